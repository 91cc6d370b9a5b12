<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>Foreland</name>
  <message>
   <source>the sound device went away; the world plays on in silence until there is one again</source>
   <translation>Das Tongerät ist weg; die Welt läuft still weiter, bis es wieder eines gibt</translation>
  </message>
  <message>
   <source>sound is back</source>
   <translation>Der Ton ist wieder da</translation>
  </message>
  <message>
   <source>no sound device can be used ({error}); the world plays on in silence</source>
   <translation>Kein Tongerät kann benutzt werden ({error}); die Welt läuft still weiter</translation>
  </message>
  <message>
   <source>gamepad</source>
   <translation>Gamepad</translation>
  </message>
  <message>
   <source>gamepads need the package pygame-ce: pip install 'foreland[gamepad]'</source>
   <translation>Gamepads brauchen das Paket pygame-ce: pip install 'foreland[gamepad]'</translation>
  </message>
  <message>
   <source>gamepads cannot be read here: {error}</source>
   <translation>Gamepads können hier nicht gelesen werden: {error}</translation>
  </message>
  <message>
   <source>global keys</source>
   <translation>globale Tasten</translation>
  </message>
  <message>
   <source>Wayland lets no program see keys of other windows: start an X11 session, or use the window's own keys</source>
   <translation>Wayland zeigt keinem Programm Tasten anderer Fenster: eine X11-Sitzung starten oder die Tasten des Fensters benutzen</translation>
  </message>
  <message>
   <source>there is no X display here</source>
   <translation>Hier gibt es keinen X-Bildschirm</translation>
  </message>
  <message>
   <source>macOS forbids it until Foreland is allowed under {where}</source>
   <translation>macOS verbietet es, bis Foreland unter {where} erlaubt ist</translation>
  </message>
  <message>
   <source>global keys need the package pynput ({error}): pip install 'foreland[keys]'</source>
   <translation>Globale Tasten brauchen das Paket pynput ({error}): pip install 'foreland[keys]'</translation>
  </message>
  <message>
   <source>forward</source>
   <translation>vorwärts</translation>
  </message>
  <message>
   <source>back</source>
   <translation>rückwärts</translation>
  </message>
  <message>
   <source>left</source>
   <translation>links</translation>
  </message>
  <message>
   <source>right</source>
   <translation>rechts</translation>
  </message>
  <message>
   <source>turn left</source>
   <translation>nach links drehen</translation>
  </message>
  <message>
   <source>turn right</source>
   <translation>nach rechts drehen</translation>
  </message>
  <message>
   <source>look up</source>
   <translation>nach oben sehen</translation>
  </message>
  <message>
   <source>look down</source>
   <translation>nach unten sehen</translation>
  </message>
  <message>
   <source>rise</source>
   <translation>steigen</translation>
  </message>
  <message>
   <source>sink</source>
   <translation>sinken</translation>
  </message>
  <message>
   <source>global keys on</source>
   <translation>globale Tasten an</translation>
  </message>
  <message>
   <source>global keys: {reason}</source>
   <translation>globale Tasten: {reason}</translation>
  </message>
  <message>
   <source>mouse</source>
   <translation>Maus</translation>
  </message>
  <message>
   <source>; {n} frames are missing in it: the encoder was too slow for this machine</source>
   <translation>; {n} Bilder fehlen darin: der Encoder war für diesen Rechner zu langsam</translation>
  </message>
  <message>
   <source>recorded {file}</source>
   <translation>Aufgenommen: {file}</translation>
  </message>
  <message>
   <source>no virtual camera can be opened here: {error}</source>
   <translation>Hier kann keine virtuelle Kamera geöffnet werden: {error}</translation>
  </message>
  <message>
   <source>a virtual camera needs the package pyvirtualcam: pip install 'foreland[camera]'</source>
   <translation>Eine virtuelle Kamera braucht das Paket pyvirtualcam: pip install 'foreland[camera]'</translation>
  </message>
  <message>
   <source>saved {file}</source>
   <translation>Gespeichert: {file}</translation>
  </message>
  <message>
   <source>the screenshot could not be written to {file}</source>
   <translation>Das Bildschirmfoto konnte nicht nach {file} geschrieben werden</translation>
  </message>
  <message>
   <source>Other programs see this world as the camera {name}</source>
   <translation>Andere Programme sehen diese Welt als Kamera {name}</translation>
  </message>
  <message>
   <source>The overlay could not be saved: {error}</source>
   <translation>Das Overlay konnte nicht gespeichert werden: {error}</translation>
  </message>
  <message>
   <source>{error}; nothing is recorded</source>
   <translation>{error}; es wird nichts aufgenommen</translation>
  </message>
  <message>
   <source>as the system</source>
   <translation>wie das System</translation>
  </message>
  <message>
   <source>dark</source>
   <translation>dunkel</translation>
  </message>
  <message>
   <source>light</source>
   <translation>hell</translation>
  </message>
  <message>
   <source>T&amp;heme</source>
   <translation>&amp;Farben</translation>
  </message>
  <message>
   <source>Lan&amp;guage</source>
   <translation>S&amp;prache</translation>
  </message>
  <message>
   <source>&amp;Device</source>
   <translation>&amp;Gerät</translation>
  </message>
  <message>
   <source>&amp;Layout</source>
   <translation>&amp;Belegung</translation>
  </message>
  <message>
   <source>Mouse s&amp;ensitivity</source>
   <translation>Maus&amp;empfindlichkeit</translation>
  </message>
  <message>
   <source>The language changes at the next start.</source>
   <translation>Die Sprache wechselt beim nächsten Start.</translation>
  </message>
  <message>
   <source>system default</source>
   <translation>Standard des Systems</translation>
  </message>
  <message>
   <source>Time</source>
   <translation>Zeit</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>Pause</translation>
  </message>
  <message>
   <source>decoding ...</source>
   <translation>wird dekodiert ...</translation>
  </message>
  <message>
   <source>Play</source>
   <translation>Abspielen</translation>
  </message>
  <message>
   <source>Walk</source>
   <translation>Gehen</translation>
  </message>
  <message>
   <source>Hold {move} to walk and {turn} to turn. The picture follows after a moment: it is sampled as you go.</source>
   <translation>{move} halten, um zu gehen, {turn}, um sich zu drehen. Das Bild folgt nach einem Augenblick: es entsteht, während du gehst.</translation>
  </message>
  <message>
   <source>Say</source>
   <translation>Sagen</translation>
  </message>
  <message>
   <source>Press Enter, describe another place, time or weather, and press Enter again. You need not stop walking.</source>
   <translation>Enter drücken, einen anderen Ort, eine andere Zeit oder ein anderes Wetter beschreiben, noch einmal Enter. Dabei kannst du weitergehen.</translation>
  </message>
  <message>
   <source>See the future</source>
   <translation>In die Zukunft sehen</translation>
  </message>
  <message>
   <source>Press {key}: the boxes right of the line are pictures that are sampled already. A key or a prompt revokes those that can still be replaced.</source>
   <translation>{key} drücken: die Kästchen rechts der Linie sind Bilder, die schon berechnet sind. Eine Taste oder ein Prompt widerruft die, die noch ersetzt werden können.</translation>
  </message>
  <message>
   <source>First steps</source>
   <translation>Erste Schritte</translation>
  </message>
  <message>
   <source>Skip</source>
   <translation>Überspringen</translation>
  </message>
  <message>
   <source>Skip the first steps</source>
   <translation>Die ersten Schritte überspringen</translation>
  </message>
  <message>
   <source>the model is not loaded yet</source>
   <translation>Das Modell ist noch nicht geladen</translation>
  </message>
  <message>
   <source>nothing of that is kept any more</source>
   <translation>Davon ist nichts mehr aufgehoben</translation>
  </message>
  <message>
   <source>it could not be made: {error}</source>
   <translation>Es konnte nicht gemacht werden: {error}</translation>
  </message>
  <message>
   <source>the window was closed before it was complete</source>
   <translation>Das Fenster wurde geschlossen, bevor es fertig war</translation>
  </message>
  <message>
   <source>What the overlay shows</source>
   <translation>Was das Overlay zeigt</translation>
  </message>
  <message>
   <source>Keys</source>
   <translation>Tasten</translation>
  </message>
  <message>
   <source>Log: {file}</source>
   <translation>Protokoll: {file}</translation>
  </message>
  <message>
   <source>About Foreland</source>
   <translation>Über Foreland</translation>
  </message>
  <message>
   <source>Start from an image or video</source>
   <translation>Mit Bild oder Video beginnen</translation>
  </message>
  <message>
   <source>Images and videos ({kinds})</source>
   <translation>Bilder und Videos ({kinds})</translation>
  </message>
  <message>
   <source>Share this world</source>
   <translation>Diese Welt weitergeben</translation>
  </message>
  <message>
   <source>Nothing to explain yet: hold a key or change the prompt, and wait until it is seen</source>
   <translation>Noch nichts zu erklären: eine Taste halten oder den Prompt ändern und warten, bis es zu sehen ist</translation>
  </message>
  <message>
   <source>asking the hub</source>
   <translation>der Hub wird gefragt</translation>
  </message>
  <message>
   <source>size and licence</source>
   <translation>Größe und Lizenz</translation>
  </message>
  <message>
   <source>{name}: {done} of {total}</source>
   <translation>{name}: {done} von {total}</translation>
  </message>
  <message>
   <source>complete</source>
   <translation>vollständig</translation>
  </message>
  <message>
   <source>nothing was downloaded</source>
   <translation>Nichts wurde heruntergeladen</translation>
  </message>
  <message>
   <source>stopped</source>
   <translation>angehalten</translation>
  </message>
  <message>
   <source>checking</source>
   <translation>wird geprüft</translation>
  </message>
  <message>
   <source>the picture could not be written to {folder}: {reason}</source>
   <translation>Das Bild konnte nicht nach {folder} geschrieben werden: {reason}</translation>
  </message>
  <message>
   <source>a world starts from a picture or a film of this machine: save it first, or copy the picture itself</source>
   <translation>Eine Welt beginnt mit einem Bild oder Film auf diesem Rechner: erst speichern, oder das Bild selbst kopieren</translation>
  </message>
  <message>
   <source>{name} is not a picture or film of a known kind: {kinds}</source>
   <translation>{name} ist kein Bild oder Film einer bekannten Art: {kinds}</translation>
  </message>
  <message>
   <source>it is not an image, or the disk is full</source>
   <translation>es ist keines, oder die Platte ist voll</translation>
  </message>
  <message>
   <source>The overlay at this moment</source>
   <translation>Das Overlay in diesem Augenblick</translation>
  </message>
  <message>
   <source>What happened after your last change</source>
   <translation>Was nach der letzten Änderung geschah</translation>
  </message>
  <message>
   <source>What happens</source>
   <translation>Was geschieht</translation>
  </message>
  <message>
   <source>Moment</source>
   <translation>Augenblick</translation>
  </message>
  <message>
   <source>Explore worlds that a video diffusion model generates as you move. It implements *Speculative Sampling in Interactive Video Generation* (Huang et al., 2026).</source>
   <translation>Erkunde Welten, die ein Videodiffusionsmodell erzeugt, während du dich bewegst. Es setzt *Speculative Sampling in Interactive Video Generation* (Huang et al., 2026) um.</translation>
  </message>
  <message>
   <source>The pocket world is sampled by a small network that this project trained on a world that it renders itself.</source>
   <translation>Die Taschenwelt kommt aus einem kleinen Netz, das dieses Projekt an einer selbst gezeichneten Welt trainiert hat.</translation>
  </message>
  <message>
   <source>Models that you download have licences of their own, which are shown before a download.</source>
   <translation>Modelle, die du herunterlädst, haben eigene Lizenzen; sie werden vorher gezeigt.</translation>
  </message>
  <message>
   <source>| package | version | licence |</source>
   <translation>| Paket | Version | Lizenz |</translation>
  </message>
  <message>
   <source>Keys &gt; Edit and Keys &gt; Layout change those of the camera.</source>
   <translation>Tasten &gt; Bearbeiten und Tasten &gt; Belegung ändern die der Kamera.</translation>
  </message>
  <message>
   <source>from a checkout</source>
   <translation>aus einem Checkout</translation>
  </message>
  <message>
   <source>Made with</source>
   <translation>Gemacht mit</translation>
  </message>
  <message>
   <source>see its files</source>
   <translation>siehe seine Dateien</translation>
  </message>
  <message>
   <source>Menus</source>
   <translation>Menüs</translation>
  </message>
  <message>
   <source>Paused</source>
   <translation>Angehalten</translation>
  </message>
  <message>
   <source>Decoding the next picture</source>
   <translation>Das nächste Bild wird dekodiert</translation>
  </message>
  <message>
   <source>Sampling the next picture: step {step} of {steps}</source>
   <translation>Das nächste Bild wird berechnet: Schritt {step} von {steps}</translation>
  </message>
  <message>
   <source>Waiting</source>
   <translation>Es wird gewartet</translation>
  </message>
  <message>
   <source>move</source>
   <translation>gehen</translation>
  </message>
  <message>
   <source>turn and look</source>
   <translation>drehen und umsehen</translation>
  </message>
  <message>
   <source>the right mouse button held and moved</source>
   <translation>die rechte Maustaste halten und bewegen</translation>
  </message>
  <message>
   <source>rise, sink</source>
   <translation>steigen, sinken</translation>
  </message>
  <message>
   <source>go to the prompt box; there Enter applies, Esc leaves, Up and Down walk through the history</source>
   <translation>zum Prompt; dort übernimmt Enter, Esc verlässt, Hoch und Runter gehen durch den Verlauf</translation>
  </message>
  <message>
   <source>| keys | do |</source>
   <translation>| Tasten | tun |</translation>
  </message>
  <message>
   <source>none</source>
   <translation>keine</translation>
  </message>
  <message>
   <source>, or </source>
   <translation>, oder </translation>
  </message>
  <message>
   <source>{key} is “{other}” now. Make it “{action}”?</source>
   <translation>{key} ist jetzt „{other}“. Soll es „{action}“ werden?</translation>
  </message>
  <message>
   <source>Actions and their keys</source>
   <translation>Aktionen und ihre Tasten</translation>
  </message>
  <message>
   <source>Choose an action, then add a key or remove its keys</source>
   <translation>Eine Aktion wählen, dann eine Taste hinzufügen oder ihre Tasten entfernen</translation>
  </message>
  <message>
   <source>Note</source>
   <translation>Hinweis</translation>
  </message>
  <message>
   <source>&amp;Add a key</source>
   <translation>Taste &amp;hinzufügen</translation>
  </message>
  <message>
   <source>&amp;Remove its keys</source>
   <translation>Tasten &amp;entfernen</translation>
  </message>
  <message>
   <source>Press the key for “{action}”; Esc leaves it</source>
   <translation>Die Taste für „{action}“ drücken; Esc lässt es</translation>
  </message>
  <message>
   <source>{key} is “{action}”</source>
   <translation>{key} ist „{action}“</translation>
  </message>
  <message>
   <source>does</source>
   <translation>tut</translation>
  </message>
  <message>
   <source>keys</source>
   <translation>Tasten</translation>
  </message>
  <message>
   <source>without a key: {actions}</source>
   <translation>ohne Taste: {actions}</translation>
  </message>
  <message>
   <source>Nothing was changed</source>
   <translation>Nichts wurde geändert</translation>
  </message>
  <message>
   <source>This key is the program's own: press another, or Esc</source>
   <translation>Diese Taste gehört dem Programm: eine andere drücken, oder Esc</translation>
  </message>
  <message>
   <source>Delete {name}?</source>
   <translation>{name} löschen?</translation>
  </message>
  <message>
   <source>Recordings and pictures</source>
   <translation>Aufnahmen und Bilder</translation>
  </message>
  <message>
   <source>Nothing yet. Ctrl+Shift+R records a video, F12 saves a picture.</source>
   <translation>Noch nichts. Ctrl+Shift+R nimmt ein Video auf, F12 speichert ein Bild.</translation>
  </message>
  <message>
   <source>Open folder</source>
   <translation>Ordner öffnen</translation>
  </message>
  <message>
   <source>Rename ...</source>
   <translation>Umbenennen ...</translation>
  </message>
  <message>
   <source>Delete ...</source>
   <translation>Löschen ...</translation>
  </message>
  <message>
   <source>Rename</source>
   <translation>Umbenennen</translation>
  </message>
  <message>
   <source>Name of the file</source>
   <translation>Name der Datei</translation>
  </message>
  <message>
   <source>No program is there to open {file}</source>
   <translation>Es gibt kein Programm, das {file} öffnet</translation>
  </message>
  <message>
   <source>Delete</source>
   <translation>Löschen</translation>
  </message>
  <message>
   <source>There is a file of this name already; nothing was changed</source>
   <translation>Eine Datei dieses Namens gibt es schon; nichts wurde geändert</translation>
  </message>
  <message>
   <source>{error}; nothing was changed</source>
   <translation>{error}; nichts wurde geändert</translation>
  </message>
  <message>
   <source>starting</source>
   <translation>beginnt</translation>
  </message>
  <message>
   <source>importing torch</source>
   <translation>torch wird importiert</translation>
  </message>
  <message>
   <source>reading the pocket weights</source>
   <translation>die Gewichte der Taschenwelt werden gelesen</translation>
  </message>
  <message>
   <source>drawing what stands in it</source>
   <translation>was darin steht, wird gezeichnet</translation>
  </message>
  <message>
   <source>preparing the pocket world</source>
   <translation>die Taschenwelt wird vorbereitet</translation>
  </message>
  <message>
   <source>closing the previous world</source>
   <translation>die vorige Welt wird geschlossen</translation>
  </message>
  <message>
   <source>first picture</source>
   <translation>erstes Bild</translation>
  </message>
  <message>
   <source>{stage}, step {step} of {steps}</source>
   <translation>{stage}, Schritt {step} von {steps}</translation>
  </message>
  <message>
   <source>Foreland - {model} world</source>
   <translation>Foreland - Welt {model}</translation>
  </message>
  <message>
   <source>This model has no camera: held keys become words of its prompt</source>
   <translation>Dieses Modell hat keine Kamera: gehaltene Tasten werden zu Worten seines Prompts</translation>
  </message>
  <message>
   <source>there is nothing to save yet</source>
   <translation>Es gibt noch nichts zu speichern</translation>
  </message>
  <message>
   <source>Figures of the session</source>
   <translation>Zahlen der Sitzung</translation>
  </message>
  <message>
   <source>cache, s</source>
   <translation>Cache, s</translation>
  </message>
  <message>
   <source>L of updates, s</source>
   <translation>L der Änderungen, s</translation>
  </message>
  <message>
   <source>C, s</source>
   <translation>C, s</translation>
  </message>
  <message>
   <source>revoked share</source>
   <translation>Anteil widerrufen</translation>
  </message>
  <message>
   <source>Plot of {figure}</source>
   <translation>Kurve: {figure}</translation>
  </message>
  <message>
   <source>{width} x {height}, {fps:g} frames a second</source>
   <translation>{width} x {height}, {fps:g} Bilder pro Sekunde</translation>
  </message>
  <message>
   <source>fits; download {n:.0f} GB</source>
   <translation>passt; {n:.0f} GB herunterladen</translation>
  </message>
  <message>
   <source>ready, needs no GPU</source>
   <translation>bereit, braucht keine GPU</translation>
  </message>
  <message>
   <source>needs a GPU with {n:g} GB</source>
   <translation>braucht eine GPU mit {n:g} GB</translation>
  </message>
  <message>
   <source>ready</source>
   <translation>bereit</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>Installed</source>
   <translation>Vorhanden</translation>
  </message>
  <message>
   <source>Download</source>
   <translation>Herunterladen</translation>
  </message>
  <message>
   <source>GPU memory</source>
   <translation>GPU-Speicher</translation>
  </message>
  <message>
   <source>K</source>
   <translation>K</translation>
  </message>
  <message>
   <source>Licence</source>
   <translation>Lizenz</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>Modelle</translation>
  </message>
  <message>
   <source>About the model</source>
   <translation>Über das Modell</translation>
  </message>
  <message>
   <source>&amp;Open</source>
   <translation>Ö&amp;ffnen</translation>
  </message>
  <message>
   <source>&amp;Download ...</source>
   <translation>&amp;Herunterladen ...</translation>
  </message>
  <message>
   <source>&amp;Cancel download</source>
   <translation>&amp;Abbrechen</translation>
  </message>
  <message>
   <source>Open a &amp;folder ...</source>
   <translation>&amp;Ordner öffnen ...</translation>
  </message>
  <message>
   <source>Open a f&amp;ile ...</source>
   <translation>&amp;Datei öffnen ...</translation>
  </message>
  <message>
   <source>Folder of a checkpoint</source>
   <translation>Ordner eines Checkpoints</translation>
  </message>
  <message>
   <source>File of a checkpoint</source>
   <translation>Datei eines Checkpoints</translation>
  </message>
  <message>
   <source>Checkpoints ({kinds})</source>
   <translation>Checkpoints ({kinds})</translation>
  </message>
  <message>
   <source>Licence: {licence}</source>
   <translation>Lizenz: {licence}</translation>
  </message>
  <message>
   <source>Do you agree to the licence and download it?</source>
   <translation>Der Lizenz zustimmen und herunterladen?</translation>
  </message>
  <message>
   <source>Agree and download</source>
   <translation>Zustimmen und herunterladen</translation>
  </message>
  <message>
   <source>It does not fit: free some space, then try again.</source>
   <translation>Es passt nicht: Platz schaffen, dann noch einmal versuchen.</translation>
  </message>
  <message>
   <source>yes</source>
   <translation>ja</translation>
  </message>
  <message>
   <source>no</source>
   <translation>nein</translation>
  </message>
  <message>
   <source>about {n} GB</source>
   <translation>etwa {n} GB</translation>
  </message>
  <message>
   <source>cannot be used</source>
   <translation>unbrauchbar</translation>
  </message>
  <message>
   <source>{free} are free in {folder}.</source>
   <translation>{free} sind in {folder} frei.</translation>
  </message>
  <message>
   <source>{model} is installed</source>
   <translation>{model} ist vorhanden</translation>
  </message>
  <message>
   <source>steps: {n}</source>
   <translation>Schritte: {n}</translation>
  </message>
  <message>
   <source>{model}: {total}, of which {there} are here already.</source>
   <translation>{model}: {total}, davon sind {there} schon hier.</translation>
  </message>
  <message>
   <source>Message</source>
   <translation>Meldung</translation>
  </message>
  <message>
   <source>Dismiss</source>
   <translation>Ausblenden</translation>
  </message>
  <message>
   <source>Messages</source>
   <translation>Meldungen</translation>
  </message>
  <message>
   <source>played</source>
   <translation>gespielt</translation>
  </message>
  <message>
   <source>locked: it will play</source>
   <translation>fest: wird gespielt</translation>
  </message>
  <message>
   <source>cached: a change can revoke it</source>
   <translation>im Cache: eine Änderung kann es widerrufen</translation>
  </message>
  <message>
   <source>being sampled</source>
   <translation>wird berechnet</translation>
  </message>
  <message>
   <source>revoked</source>
   <translation>widerrufen</translation>
  </message>
  <message>
   <source>a key or prompt, and the first picture it changed</source>
   <translation>eine Taste oder ein Prompt, und das erste geänderte Bild</translation>
  </message>
  <message>
   <source>produce</source>
   <translation>erzeugt</translation>
  </message>
  <message>
   <source>consume</source>
   <translation>zehrt</translation>
  </message>
  <message>
   <source>closed</source>
   <translation>geschlossen</translation>
  </message>
  <message>
   <source>speculative</source>
   <translation>spekulativ</translation>
  </message>
  <message>
   <source>chunk</source>
   <translation>Block</translation>
  </message>
  <message>
   <source>loading</source>
   <translation>lädt</translation>
  </message>
  <message>
   <source>cache</source>
   <translation>Cache</translation>
  </message>
  <message>
   <source>{n} groups, {seconds} s</source>
   <translation>{n} Gruppen, {seconds} s</translation>
  </message>
  <message>
   <source>state</source>
   <translation>Zustand</translation>
  </message>
  <message>
   <source>commit</source>
   <translation>Bindung</translation>
  </message>
  <message>
   <source>stalls</source>
   <translation>Stockungen</translation>
  </message>
  <message>
   <source>latency</source>
   <translation>Latenz</translation>
  </message>
  <message>
   <source>of which the line</source>
   <translation>davon die Leitung</translation>
  </message>
  <message>
   <source>(paused)</source>
   <translation>(angehalten)</translation>
  </message>
  <message>
   <source>shared with</source>
   <translation>geteilt mit</translation>
  </message>
  <message>
   <source>answer, step {step}/{steps}</source>
   <translation>Antwort, Schritt {step}/{steps}</translation>
  </message>
  <message>
   <source>step {step}/{steps}</source>
   <translation>Schritt {step}/{steps}</translation>
  </message>
  <message>
   <source>now</source>
   <translation>jetzt</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Einstellungen</translation>
  </message>
  <message>
   <source>Takes</source>
   <translation>Takes</translation>
  </message>
  <message>
   <source>Score</source>
   <translation>Partitur</translation>
  </message>
  <message>
   <source>Library</source>
   <translation>Sammlung</translation>
  </message>
  <message>
   <source>Metrics</source>
   <translation>Messwerte</translation>
  </message>
  <message>
   <source>received</source>
   <translation>empfangen</translation>
  </message>
  <message>
   <source>generating ...</source>
   <translation>wird erzeugt ...</translation>
  </message>
  <message>
   <source>live</source>
   <translation>zu sehen</translation>
  </message>
  <message>
   <source>superseded</source>
   <translation>überholt</translation>
  </message>
  <message>
   <source>rejected</source>
   <translation>abgelehnt</translation>
  </message>
  <message>
   <source>dropped</source>
   <translation>verworfen</translation>
  </message>
  <message>
   <source>live after {seconds} s</source>
   <translation>zu sehen nach {seconds} s</translation>
  </message>
  <message>
   <source>Describe the world.  Enter applies, Esc leaves</source>
   <translation>Die Welt beschreiben.  Enter übernimmt, Esc verlässt</translation>
  </message>
  <message>
   <source>Prompt</source>
   <translation>Prompt</translation>
  </message>
  <message>
   <source>Prompt status</source>
   <translation>Stand des Prompts</translation>
  </message>
  <message>
   <source>What the model understood</source>
   <translation>Was das Modell verstanden hat</translation>
  </message>
  <message>
   <source>Keep this prompt as a favourite</source>
   <translation>Diesen Prompt als Favoriten behalten</translation>
  </message>
  <message>
   <source>Favourite</source>
   <translation>Favorit</translation>
  </message>
  <message>
   <source>Transition: </source>
   <translation>Übergang: </translation>
  </message>
  <message>
   <source>Transition: none</source>
   <translation>Übergang: keiner</translation>
  </message>
  <message>
   <source>How long the change to the next prompt takes. A longer one is made of several calls, and is gentler.</source>
   <translation>Wie lange der Wechsel zum nächsten Prompt dauert. Ein längerer besteht aus mehreren Aufrufen und ist sanfter.</translation>
  </message>
  <message>
   <source>Length of the transition</source>
   <translation>Länge des Übergangs</translation>
  </message>
  <message>
   <source>Preset and favourite prompts</source>
   <translation>Vorlagen und Favoriten</translation>
  </message>
  <message>
   <source>Presets</source>
   <translation>Vorlagen</translation>
  </message>
  <message>
   <source>not applied yet</source>
   <translation>noch nicht übernommen</translation>
  </message>
  <message>
   <source>Enter a prompt</source>
   <translation>Einen Prompt eingeben</translation>
  </message>
  <message>
   <source>too long: at most {n} characters</source>
   <translation>zu lang: höchstens {n} Zeichen</translation>
  </message>
  <message>
   <source>A score says prompts by itself, each at its time. Add a line to begin.</source>
   <translation>Eine Partitur sagt Prompts von selbst, jeden zu seiner Zeit. Füge eine Zeile hinzu.</translation>
  </message>
  <message>
   <source>Score status</source>
   <translation>Stand der Partitur</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>Anhalten</translation>
  </message>
  <message>
   <source>Open a score</source>
   <translation>Partitur öffnen</translation>
  </message>
  <message>
   <source>Scores (*.json)</source>
   <translation>Partituren (*.json)</translation>
  </message>
  <message>
   <source>Save the score</source>
   <translation>Partitur speichern</translation>
  </message>
  <message>
   <source>at, s</source>
   <translation>bei, s</translation>
  </message>
  <message>
   <source>prompt</source>
   <translation>Prompt</translation>
  </message>
  <message>
   <source>transition, s</source>
   <translation>Übergang, s</translation>
  </message>
  <message>
   <source>Add line</source>
   <translation>Zeile hinzufügen</translation>
  </message>
  <message>
   <source>Remove line</source>
   <translation>Zeile entfernen</translation>
  </message>
  <message>
   <source>Open ...</source>
   <translation>Öffnen ...</translation>
  </message>
  <message>
   <source>Save ...</source>
   <translation>Speichern ...</translation>
  </message>
  <message>
   <source>finished</source>
   <translation>zu Ende</translation>
  </message>
  <message>
   <source>next in {seconds} s</source>
   <translation>nächste in {seconds} s</translation>
  </message>
  <message>
   <source>{file}: {n} lines</source>
   <translation>{file}: {n} Zeilen</translation>
  </message>
  <message>
   <source>there is no line yet: add one</source>
   <translation>Es gibt noch keine Zeile: eine hinzufügen</translation>
  </message>
  <message>
   <source>{error}; the lines here are as they were</source>
   <translation>{error}; die Zeilen hier sind wie zuvor</translation>
  </message>
  <message>
   <source>{error}; nothing was saved</source>
   <translation>{error}; nichts wurde gespeichert</translation>
  </message>
  <message>
   <source>Chunk length K</source>
   <translation>Blocklänge K</translation>
  </message>
  <message>
   <source>K: latents that a call samples together. A longer chunk fills the cache further ahead and costs less for each picture; a call then takes longer, and so does your key where it has to wait for one.</source>
   <translation>K: Latents, die ein Aufruf zusammen berechnet. Ein längerer Block füllt den Cache weiter voraus und kostet weniger je Bild; ein Aufruf dauert dann länger, und so deine Taste, wenn sie auf einen warten muss.</translation>
  </message>
  <message>
   <source>Denoising steps</source>
   <translation>Entrauschungsschritte</translation>
  </message>
  <message>
   <source>Denoising steps of a call. More steps: better pictures, and a call takes longer in proportion.</source>
   <translation>Entrauschungsschritte eines Aufrufs. Mehr Schritte: bessere Bilder, und ein Aufruf dauert entsprechend länger.</translation>
  </message>
  <message>
   <source>Seed</source>
   <translation>Startwert</translation>
  </message>
  <message>
   <source>Chooses the noise of the next new world. The same prompt and seed begin at the same place; it costs nothing.</source>
   <translation>Wählt das Rauschen der nächsten neuen Welt. Derselbe Prompt und Startwert beginnen am selben Ort; es kostet nichts.</translation>
  </message>
  <message>
   <source>Commitment</source>
   <translation>Bindung</translation>
  </message>
  <message>
   <source>speculative: a change revokes the predictions that can still be replaced. Short latency, some sampling for nothing.
chunk: it waits for the chunk's end, as other engines do. No sampling for nothing, long latency.</source>
   <translation>spekulativ: eine Änderung widerruft die Vorhersagen, die noch ersetzt werden können. Kurze Latenz, manches wird umsonst berechnet.
Block: sie wartet auf das Ende des Blocks, wie andere Programme. Nichts umsonst, lange Latenz.</translation>
  </message>
  <message>
   <source>Short answers</source>
   <translation>Kurze Antworten</translation>
  </message>
  <message>
   <source>A key or prompt is answered by a shorter call, and a call of the full K follows. Quicker; the first pictures of an answer are sampled with few others, which can make them weaker.</source>
   <translation>Auf eine Taste oder einen Prompt antwortet ein kürzerer Aufruf, und einer mit vollem K folgt. Schneller; die ersten Bilder einer Antwort werden mit wenigen anderen zusammen berechnet und können dadurch schwächer sein.</translation>
  </message>
  <message>
   <source>Answer within</source>
   <translation>Antworten innerhalb von</translation>
  </message>
  <message>
   <source>The longest answer that is seen within this time is taken. At the left end: the shortest answer.</source>
   <translation>Die längste Antwort, die in dieser Zeit zu sehen ist, wird genommen. Ganz links: die kürzeste Antwort.</translation>
  </message>
  <message>
   <source>Stop outdated calls</source>
   <translation>Überholte Aufrufe abbrechen</translation>
  </message>
  <message>
   <source>A call that a newer key or prompt makes worthless ends at its next denoising step, and a new one begins. Quicker where calls are long; at most two in a row are stopped.</source>
   <translation>Ein Aufruf, den eine neuere Taste oder ein neuerer Prompt wertlos macht, endet beim nächsten Entrauschungsschritt, und ein neuer beginnt. Schneller, wo Aufrufe lange dauern; höchstens zwei hintereinander werden abgebrochen.</translation>
  </message>
  <message>
   <source>History policy</source>
   <translation>Umgang mit dem Verlauf</translation>
  </message>
  <message>
   <source>How what was played conditions the next call. A policy that runs it again costs time and forgets an old prompt sooner; the session log names it.</source>
   <translation>Wie das Gespielte den nächsten Aufruf bedingt. Wer es noch einmal rechnet, braucht Zeit und vergisst einen alten Prompt eher; das Protokoll nennt es.</translation>
  </message>
  <message>
   <source>About this model</source>
   <translation>Über dieses Modell</translation>
  </message>
  <message>
   <source>the model's own; Enter applies</source>
   <translation>der des Modells; Enter übernimmt</translation>
  </message>
  <message>
   <source>Negative prompt</source>
   <translation>Negativer Prompt</translation>
  </message>
  <message>
   <source>What not to show. A call costs twice as much with it, as the model runs with and without.</source>
   <translation>Was nicht zu sehen sein soll. Ein Aufruf kostet damit doppelt so viel, da das Modell mit und ohne ihn läuft.</translation>
  </message>
  <message>
   <source>Resume</source>
   <translation>Weiter</translation>
  </message>
  <message>
   <source>{seconds} s</source>
   <translation>{seconds} s</translation>
  </message>
  <message>
   <source>the shortest answer</source>
   <translation>die kürzeste Antwort</translation>
  </message>
  <message>
   <source>Steps</source>
   <translation>Schritte</translation>
  </message>
  <message>
   <source>History</source>
   <translation>Verlauf</translation>
  </message>
  <message>
   <source>now K = {k}, seen after some {seconds} s</source>
   <translation>jetzt K = {k}, zu sehen nach etwa {seconds} s</translation>
  </message>
  <message>
   <source>{seconds} s per chunk.</source>
   <translation>{seconds} s je Block.</translation>
  </message>
  <message>
   <source>Panels</source>
   <translation>Tafeln</translation>
  </message>
  <message>
   <source>Go on where you were</source>
   <translation>Weiter, wo du warst</translation>
  </message>
  <message>
   <source>Delete the world “{name}”? This cannot be undone.</source>
   <translation>Die Welt „{name}“ löschen? Das kann nicht rückgängig gemacht werden.</translation>
  </message>
  <message>
   <source>Name of the world</source>
   <translation>Name der Welt</translation>
  </message>
  <message>
   <source>&amp;Open a world file ...</source>
   <translation>Welt&amp;datei öffnen ...</translation>
  </message>
  <message>
   <source>Where to?</source>
   <translation>Wohin?</translation>
  </message>
  <message>
   <source>Back to the world (Esc)</source>
   <translation>Zurück zur Welt (Esc)</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Worlds</source>
   <translation>Welten</translation>
  </message>
  <message>
   <source>Worlds, models, sessions</source>
   <translation>Welten, Modelle, Sitzungen</translation>
  </message>
  <message>
   <source>Loading</source>
   <translation>Lädt</translation>
  </message>
  <message>
   <source>Show at the &amp;start</source>
   <translation>Beim &amp;Start zeigen</translation>
  </message>
  <message>
   <source>&amp;Enter</source>
   <translation>&amp;Betreten</translation>
  </message>
  <message>
   <source>Ready</source>
   <translation>Bereit</translation>
  </message>
  <message>
   <source>Recent sessions</source>
   <translation>Letzte Sitzungen</translation>
  </message>
  <message>
   <source>&amp;Worlds</source>
   <translation>&amp;Welten</translation>
  </message>
  <message>
   <source>&amp;Models</source>
   <translation>&amp;Modelle</translation>
  </message>
  <message>
   <source>&amp;Recent</source>
   <translation>&amp;Zuletzt</translation>
  </message>
  <message>
   <source>{prompt} (seed {seed}, {model})</source>
   <translation>{prompt} (Startwert {seed}, {model})</translation>
  </message>
  <message>
   <source>You changed the prompt.</source>
   <translation>Du hast den Prompt geändert.</translation>
  </message>
  <message>
   <source>You pressed or released a key.</source>
   <translation>Du hast eine Taste gedrückt oder losgelassen.</translation>
  </message>
  <message>
   <source>Groups right of the line are sampled already. The outlined ones will play whatever you do; the others can be replaced.</source>
   <translation>Die Gruppen rechts der Linie sind schon berechnet. Die umrandeten werden gespielt, was du auch tust; die anderen können ersetzt werden.</translation>
  </message>
  <message>
   <source>The change is on the screen after {L} s: {R} s until its call began, {C} s of sampling, {Q} s until what was locked before it had played.</source>
   <translation>Die Änderung ist nach {L} s zu sehen: {R} s bis ihr Aufruf begann, {C} s Berechnung, {Q} s bis das Feste davor gespielt war.</translation>
  </message>
  <message>
   <source>The first changed group is there. It plays as soon as the groups before it have played.</source>
   <translation>Die erste geänderte Gruppe ist da. Sie spielt, sobald die Gruppen davor gespielt sind.</translation>
  </message>
  <message>
   <source>A call samples {n} groups under the new condition: step {step} of {steps}. Locked groups play meanwhile.</source>
   <translation>Ein Aufruf berechnet {n} Gruppen unter der neuen Bedingung: Schritt {step} von {steps}. Inzwischen spielen feste Gruppen.</translation>
  </message>
  <message>
   <source>Its call begins as soon as the sampler is free.</source>
   <translation>Ihr Aufruf beginnt, sobald der Sampler frei ist.</translation>
  </message>
  <message>
   <source>{n} groups that were sampled under the old condition are revoked.</source>
   <translation>{n} Gruppen, die unter der alten Bedingung berechnet waren, sind widerrufen.</translation>
  </message>
  <message>
   <source>take {n}</source>
   <translation>Take {n}</translation>
  </message>
  <message>
   <source>(current)</source>
   <translation>(aktuell)</translation>
  </message>
  <message>
   <source>Preview of the chosen instant</source>
   <translation>Vorschau des gewählten Augenblicks</translation>
  </message>
  <message>
   <source>Instant of the take</source>
   <translation>Augenblick des Takes</translation>
  </message>
  <message>
   <source>Go on from here</source>
   <translation>Von hier weiter</translation>
  </message>
  <message>
   <source>Branch: the world goes on from the chosen group, another way</source>
   <translation>Verzweigen: die Welt geht von der gewählten Gruppe anders weiter</translation>
  </message>
  <message>
   <source>Compare with current take</source>
   <translation>Mit dem aktuellen Take vergleichen</translation>
  </message>
  <message>
   <source>Both, from where they part</source>
   <translation>Beide, ab wo sie sich trennen</translation>
  </message>
  <message>
   <source>What if</source>
   <translation>Was wäre wenn</translation>
  </message>
  <message>
   <source>The suffix that was revoked last, beside what came instead</source>
   <translation>Das zuletzt widerrufene Ende, neben dem, was stattdessen kam</translation>
  </message>
  <message>
   <source>Minutes to export</source>
   <translation>Minuten zum Ausgeben</translation>
  </message>
  <message>
   <source>Export last minutes</source>
   <translation>Letzte Minuten ausgeben</translation>
  </message>
  <message>
   <source>An mp4 of what was played, made from the kept latents</source>
   <translation>Ein mp4 dessen, was gespielt wurde, aus den aufgehobenen Latents</translation>
  </message>
  <message>
   <source>Clip</source>
   <translation>Clip</translation>
  </message>
  <message>
   <source>A looping WebP of the {n:g} s before the chosen instant</source>
   <translation>Ein WebP in Schleife von den {n:g} s vor dem gewählten Augenblick</translation>
  </message>
  <message>
   <source>Two takes</source>
   <translation>Zwei Takes</translation>
  </message>
  <message>
   <source>played instead</source>
   <translation>stattdessen gespielt</translation>
  </message>
  <message>
   <source>{reason}; nothing was written</source>
   <translation>{reason}; nichts wurde geschrieben</translation>
  </message>
  <message>
   <source>group {n}, {seconds} s: {prompt}</source>
   <translation>Gruppe {n}, {seconds} s: {prompt}</translation>
  </message>
  <message>
   <source>choose another take than the current one to see both</source>
   <translation>einen anderen Take als den aktuellen wählen, um beide zu sehen</translation>
  </message>
  <message>
   <source>nothing was revoked yet: press a key or change the prompt while the cache is deep</source>
   <translation>Noch nichts wurde widerrufen: eine Taste drücken oder den Prompt ändern, solange der Cache tief ist</translation>
  </message>
  <message>
   <source>Timeline</source>
   <translation>Zeitleiste</translation>
  </message>
  <message>
   <source>Drag the beginning of a prompt, or the end of its slope to make the transition longer</source>
   <translation>Den Beginn eines Prompts ziehen, oder das Ende seiner Schräge für einen längeren Übergang</translation>
  </message>
  <message>
   <source>World</source>
   <translation>Welt</translation>
  </message>
  <message>
   <source>The world as the camera sees it. Keys move the camera; Enter goes to the prompt box.</source>
   <translation>Die Welt, wie die Kamera sie sieht. Tasten bewegen die Kamera; Enter führt zum Prompt.</translation>
  </message>
  <message>
   <source>volume {share}</source>
   <translation>Lautstärke {share}</translation>
  </message>
  <message>
   <source>reading {name}: {share:.0%} (Esc stops it)</source>
   <translation>{name} wird gelesen: {share:.0%} (Esc hält an)</translation>
  </message>
  <message>
   <source>the world could not be saved: {error}</source>
   <translation>Die Welt konnte nicht gespeichert werden: {error}</translation>
  </message>
  <message>
   <source>{error}; the world goes on as before</source>
   <translation>{error}; die Welt geht weiter wie zuvor</translation>
  </message>
  <message>
   <source>&amp;World</source>
   <translation>&amp;Welt</translation>
  </message>
  <message>
   <source>&amp;View</source>
   <translation>&amp;Ansicht</translation>
  </message>
  <message>
   <source>&amp;Sound</source>
   <translation>&amp;Ton</translation>
  </message>
  <message>
   <source>&amp;Keys</source>
   <translation>Ta&amp;sten</translation>
  </message>
  <message>
   <source>&amp;Help</source>
   <translation>&amp;Hilfe</translation>
  </message>
  <message>
   <source>S&amp;tart screen</source>
   <translation>S&amp;tartseite</translation>
  </message>
  <message>
   <source>worlds, models and past sessions to enter</source>
   <translation>Welten, Modelle und letzte Sitzungen zum Betreten</translation>
  </message>
  <message>
   <source>&amp;Prompt</source>
   <translation>&amp;Prompt</translation>
  </message>
  <message>
   <source>go to the prompt box; Enter does it too</source>
   <translation>zum Prompt; Enter tut es auch</translation>
  </message>
  <message>
   <source>P&amp;ause or resume</source>
   <translation>P&amp;ause oder weiter</translation>
  </message>
  <message>
   <source>pause or resume; held keys are released</source>
   <translation>anhalten oder fortsetzen; gehaltene Tasten werden losgelassen</translation>
  </message>
  <message>
   <source>&amp;New world</source>
   <translation>&amp;Neue Welt</translation>
  </message>
  <message>
   <source>a new world with this prompt and the panel's seed</source>
   <translation>eine neue Welt mit diesem Prompt und dem Startwert der Einstellungen</translation>
  </message>
  <message>
   <source>&amp;Save this world</source>
   <translation>Diese Welt &amp;speichern</translation>
  </message>
  <message>
   <source>save prompt, seed, model and start image</source>
   <translation>Prompt, Startwert, Modell und Startbild speichern</translation>
  </message>
  <message>
   <source>S&amp;hare this world ...</source>
   <translation>Diese Welt &amp;weitergeben ...</translation>
  </message>
  <message>
   <source>save this world as one file to send; it opens on the start screen or when it is dropped here</source>
   <translation>diese Welt als eine Datei zum Verschicken speichern; sie öffnet sich auf dem Startbildschirm oder wenn man sie hierher zieht</translation>
  </message>
  <message>
   <source>Start from an &amp;image or video ...</source>
   <translation>Mit B&amp;ild oder Video beginnen ...</translation>
  </message>
  <message>
   <source>a new world from an image or video</source>
   <translation>eine neue Welt aus einem Bild oder Video</translation>
  </message>
  <message>
   <source>Clear start ima&amp;ge</source>
   <translation>Startbild &amp;löschen</translation>
  </message>
  <message>
   <source>a new world without a start image</source>
   <translation>eine neue Welt ohne Startbild</translation>
  </message>
  <message>
   <source>&amp;Models ...</source>
   <translation>&amp;Modelle ...</translation>
  </message>
  <message>
   <source>open or download another model</source>
   <translation>ein anderes Modell öffnen oder herunterladen</translation>
  </message>
  <message>
   <source>Go &amp;back two groups</source>
   <translation>Zwei Gruppen &amp;zurück</translation>
  </message>
  <message>
   <source>go on from two groups before, another way</source>
   <translation>zwei Gruppen vorher anders weitergehen</translation>
  </message>
  <message>
   <source>&amp;Record video</source>
   <translation>Vi&amp;deo aufnehmen</translation>
  </message>
  <message>
   <source>start or end a video of what is shown</source>
   <translation>ein Video dessen beginnen oder beenden, was zu sehen ist</translation>
  </message>
  <message>
   <source>Videos include the o&amp;verlay</source>
   <translation>Videos enthalten das &amp;Overlay</translation>
  </message>
  <message>
   <source>&amp;Export last minutes</source>
   <translation>Letzte Minuten ausge&amp;ben</translation>
  </message>
  <message>
   <source>a video of the last minutes, as many as the takes panel says</source>
   <translation>ein Video der letzten Minuten, so viele, wie bei den Takes steht</translation>
  </message>
  <message>
   <source>Virt&amp;ual camera</source>
   <translation>&amp;Virtuelle Kamera</translation>
  </message>
  <message>
   <source>the world as a camera for calls and streams</source>
   <translation>die Welt als Kamera für Gespräche und Streams</translation>
  </message>
  <message>
   <source>S&amp;creenshot</source>
   <translation>Bildschirm&amp;foto</translation>
  </message>
  <message>
   <source>save what is shown as a PNG</source>
   <translation>was zu sehen ist, als PNG speichern</translation>
  </message>
  <message>
   <source>&amp;Quit</source>
   <translation>B&amp;eenden</translation>
  </message>
  <message>
   <source>Speculation &amp;overlay</source>
   <translation>Spekulations-&amp;Overlay</translation>
  </message>
  <message>
   <source>show or hide the speculation overlay</source>
   <translation>das Spekulations-Overlay zeigen oder verbergen</translation>
  </message>
  <message>
   <source>Full o&amp;verlay</source>
   <translation>&amp;Volles Overlay</translation>
  </message>
  <message>
   <source>every figure of the overlay, or the three that matter most</source>
   <translation>alle Zahlen des Overlays, oder die drei wichtigsten</translation>
  </message>
  <message>
   <source>E&amp;xplain the last change</source>
   <translation>Letzte Änderung er&amp;klären</translation>
  </message>
  <message>
   <source>what the overlay showed after your last key or prompt, slowly and in words</source>
   <translation>was das Overlay nach der letzten Taste oder dem letzten Prompt zeigte, langsam und in Worten</translation>
  </message>
  <message>
   <source>Save the overlay as a &amp;picture</source>
   <translation>Overlay als &amp;Bild speichern</translation>
  </message>
  <message>
   <source>the overlay of this instant as SVG and PNG, for a talk</source>
   <translation>das Overlay dieses Augenblicks als SVG und PNG, für einen Vortrag</translation>
  </message>
  <message>
   <source>Switch &amp;commitment</source>
   <translation>B&amp;indung wechseln</translation>
  </message>
  <message>
   <source>switch between speculative and chunk commitment</source>
   <translation>zwischen spekulativer und Block-Bindung wechseln</translation>
  </message>
  <message>
   <source>&amp;Smooth scaling</source>
   <translation>&amp;Weich skalieren</translation>
  </message>
  <message>
   <source>smooth or sharp scaling</source>
   <translation>weich oder scharf skalieren</translation>
  </message>
  <message>
   <source>&amp;Full screen</source>
   <translation>Vollbil&amp;d</translation>
  </message>
  <message>
   <source>the picture alone on the whole screen; Esc comes back</source>
   <translation>das Bild allein auf dem ganzen Schirm; Esc führt zurück</translation>
  </message>
  <message>
   <source>S&amp;ettings</source>
   <translation>Ei&amp;nstellungen</translation>
  </message>
  <message>
   <source>show or hide the settings</source>
   <translation>die Einstellungen zeigen oder verbergen</translation>
  </message>
  <message>
   <source>&amp;Takes</source>
   <translation>&amp;Takes</translation>
  </message>
  <message>
   <source>show or hide the takes</source>
   <translation>die Takes zeigen oder verbergen</translation>
  </message>
  <message>
   <source>Li&amp;brary</source>
   <translation>Samm&amp;lung</translation>
  </message>
  <message>
   <source>show or hide recordings and pictures</source>
   <translation>Aufnahmen und Bilder zeigen oder verbergen</translation>
  </message>
  <message>
   <source>&amp;Metrics</source>
   <translation>&amp;Messwerte</translation>
  </message>
  <message>
   <source>show or hide the metrics</source>
   <translation>die Messwerte zeigen oder verbergen</translation>
  </message>
  <message>
   <source>Sco&amp;re</source>
   <translation>Pa&amp;rtitur</translation>
  </message>
  <message>
   <source>show or hide the score</source>
   <translation>die Partitur zeigen oder verbergen</translation>
  </message>
  <message>
   <source>&amp;Larger text</source>
   <translation>&amp;Größerer Text</translation>
  </message>
  <message>
   <source>Sm&amp;aller text</source>
   <translation>Kl&amp;einerer Text</translation>
  </message>
  <message>
   <source>Reduce mot&amp;ion</source>
   <translation>Beweg&amp;ung verringern</translation>
  </message>
  <message>
   <source>nothing moves by itself but the world</source>
   <translation>nichts bewegt sich von selbst als die Welt</translation>
  </message>
  <message>
   <source>&amp;Normal text</source>
   <translation>Norm&amp;aler Text</translation>
  </message>
  <message>
   <source>&amp;Mute</source>
   <translation>&amp;Stumm</translation>
  </message>
  <message>
   <source>mute, and back</source>
   <translation>stumm, und zurück</translation>
  </message>
  <message>
   <source>&amp;Louder</source>
   <translation>&amp;Lauter</translation>
  </message>
  <message>
   <source>&amp;Quieter</source>
   <translation>Leise&amp;r</translation>
  </message>
  <message>
   <source>&amp;Edit ...</source>
   <translation>&amp;Bearbeiten ...</translation>
  </message>
  <message>
   <source>&amp;Gamepad</source>
   <translation>&amp;Gamepad</translation>
  </message>
  <message>
   <source>G&amp;lobal keys (while other windows are used)</source>
   <translation>G&amp;lobale Tasten (während andere Fenster benutzt werden)</translation>
  </message>
  <message>
   <source>What the &amp;overlay shows</source>
   <translation>Was das &amp;Overlay zeigt</translation>
  </message>
  <message>
   <source>explain the overlay</source>
   <translation>das Overlay erklären</translation>
  </message>
  <message>
   <source>Open &amp;log</source>
   <translation>&amp;Protokoll öffnen</translation>
  </message>
  <message>
   <source>what the program noted, with the details of errors</source>
   <translation>was das Programm notiert hat, mit den Einzelheiten von Fehlern</translation>
  </message>
  <message>
   <source>&amp;About Foreland</source>
   <translation>&amp;Über Foreland</translation>
  </message>
  <message>
   <source>WASD and arrows</source>
   <translation>WASD und Pfeile</translation>
  </message>
  <message>
   <source>ZQSD and arrows</source>
   <translation>ZQSD und Pfeile</translation>
  </message>
  <message>
   <source>Arrows only</source>
   <translation>Nur Pfeile</translation>
  </message>
  <message>
   <source>Left-handed (IJKL)</source>
   <translation>Linkshändig (IJKL)</translation>
  </message>
  <message>
   <source>my keys</source>
   <translation>meine Tasten</translation>
  </message>
 </context>
</TS>
