<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="fr" sourcelanguage="en">
 <context>
  <name>Foreland</name>
  <message>
   <source>the sound device went away; the world plays on in silence until there is one again</source>
   <translation>Le périphérique audio a disparu ; le monde continue en silence jusqu’à ce qu’il y en ait un</translation>
  </message>
  <message>
   <source>sound is back</source>
   <translation>Le son est revenu</translation>
  </message>
  <message>
   <source>no sound device can be used ({error}); the world plays on in silence</source>
   <translation>Aucun périphérique audio n’est utilisable ({error}) ; le monde continue en silence</translation>
  </message>
  <message>
   <source>gamepad</source>
   <translation>manette</translation>
  </message>
  <message>
   <source>gamepads need the package pygame-ce: pip install 'foreland[gamepad]'</source>
   <translation>Les manettes demandent le paquet pygame-ce : pip install 'foreland[gamepad]'</translation>
  </message>
  <message>
   <source>gamepads cannot be read here: {error}</source>
   <translation>Les manettes ne peuvent pas être lues ici : {error}</translation>
  </message>
  <message>
   <source>global keys</source>
   <translation>touches globales</translation>
  </message>
  <message>
   <source>Wayland lets no program see keys of other windows: start an X11 session, or use the window's own keys</source>
   <translation>Wayland ne montre à aucun programme les touches d’autres fenêtres : ouvrez une session X11 ou utilisez les touches de la fenêtre</translation>
  </message>
  <message>
   <source>there is no X display here</source>
   <translation>Il n’y a pas d’écran X ici</translation>
  </message>
  <message>
   <source>macOS forbids it until Foreland is allowed under {where}</source>
   <translation>macOS l’interdit tant que Foreland n’est pas autorisé dans {where}</translation>
  </message>
  <message>
   <source>global keys need the package pynput ({error}): pip install 'foreland[keys]'</source>
   <translation>Les touches globales demandent le paquet pynput ({error}) : pip install 'foreland[keys]'</translation>
  </message>
  <message>
   <source>forward</source>
   <translation>avancer</translation>
  </message>
  <message>
   <source>back</source>
   <translation>reculer</translation>
  </message>
  <message>
   <source>left</source>
   <translation>gauche</translation>
  </message>
  <message>
   <source>right</source>
   <translation>droite</translation>
  </message>
  <message>
   <source>turn left</source>
   <translation>tourner à gauche</translation>
  </message>
  <message>
   <source>turn right</source>
   <translation>tourner à droite</translation>
  </message>
  <message>
   <source>look up</source>
   <translation>regarder en haut</translation>
  </message>
  <message>
   <source>look down</source>
   <translation>regarder en bas</translation>
  </message>
  <message>
   <source>rise</source>
   <translation>monter</translation>
  </message>
  <message>
   <source>sink</source>
   <translation>descendre</translation>
  </message>
  <message>
   <source>global keys on</source>
   <translation>touches globales actives</translation>
  </message>
  <message>
   <source>global keys: {reason}</source>
   <translation>touches globales : {reason}</translation>
  </message>
  <message>
   <source>mouse</source>
   <translation>souris</translation>
  </message>
  <message>
   <source>; {n} frames are missing in it: the encoder was too slow for this machine</source>
   <translation> ; il y manque {n} images : l’encodeur était trop lent pour cette machine</translation>
  </message>
  <message>
   <source>recorded {file}</source>
   <translation>Enregistré : {file}</translation>
  </message>
  <message>
   <source>no virtual camera can be opened here: {error}</source>
   <translation>Aucune caméra virtuelle ne peut être ouverte ici : {error}</translation>
  </message>
  <message>
   <source>a virtual camera needs the package pyvirtualcam: pip install 'foreland[camera]'</source>
   <translation>Une caméra virtuelle demande le paquet pyvirtualcam : pip install 'foreland[camera]'</translation>
  </message>
  <message>
   <source>saved {file}</source>
   <translation>Enregistré : {file}</translation>
  </message>
  <message>
   <source>the screenshot could not be written to {file}</source>
   <translation>La capture d’écran n’a pas pu être écrite dans {file}</translation>
  </message>
  <message>
   <source>Other programs see this world as the camera {name}</source>
   <translation>Les autres programmes voient ce monde comme la caméra {name}</translation>
  </message>
  <message>
   <source>The overlay could not be saved: {error}</source>
   <translation>La surimpression n’a pas pu être enregistrée : {error}</translation>
  </message>
  <message>
   <source>{error}; nothing is recorded</source>
   <translation>{error} ; rien n’est enregistré</translation>
  </message>
  <message>
   <source>as the system</source>
   <translation>comme le système</translation>
  </message>
  <message>
   <source>dark</source>
   <translation>sombre</translation>
  </message>
  <message>
   <source>light</source>
   <translation>clair</translation>
  </message>
  <message>
   <source>T&amp;heme</source>
   <translation>&amp;Thème</translation>
  </message>
  <message>
   <source>Lan&amp;guage</source>
   <translation>Lan&amp;gue</translation>
  </message>
  <message>
   <source>&amp;Device</source>
   <translation>&amp;Périphérique</translation>
  </message>
  <message>
   <source>&amp;Layout</source>
   <translation>&amp;Disposition</translation>
  </message>
  <message>
   <source>Mouse s&amp;ensitivity</source>
   <translation>S&amp;ensibilité de la souris</translation>
  </message>
  <message>
   <source>The language changes at the next start.</source>
   <translation>La langue change au prochain démarrage.</translation>
  </message>
  <message>
   <source>system default</source>
   <translation>celui du système</translation>
  </message>
  <message>
   <source>Time</source>
   <translation>Temps</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>Pause</translation>
  </message>
  <message>
   <source>decoding ...</source>
   <translation>décodage ...</translation>
  </message>
  <message>
   <source>Play</source>
   <translation>Lire</translation>
  </message>
  <message>
   <source>Walk</source>
   <translation>Marcher</translation>
  </message>
  <message>
   <source>Hold {move} to walk and {turn} to turn. The picture follows after a moment: it is sampled as you go.</source>
   <translation>Tenez {move} pour marcher et {turn} pour tourner. L’image suit après un instant : elle est calculée pendant que vous avancez.</translation>
  </message>
  <message>
   <source>Say</source>
   <translation>Dire</translation>
  </message>
  <message>
   <source>Press Enter, describe another place, time or weather, and press Enter again. You need not stop walking.</source>
   <translation>Appuyez sur Entrée, décrivez un autre lieu, une autre heure ou un autre temps, puis Entrée encore. Vous pouvez continuer à marcher.</translation>
  </message>
  <message>
   <source>See the future</source>
   <translation>Voir l’avenir</translation>
  </message>
  <message>
   <source>Press {key}: the boxes right of the line are pictures that are sampled already. A key or a prompt revokes those that can still be replaced.</source>
   <translation>Appuyez sur {key} : les cases à droite de la ligne sont des images déjà calculées. Une touche ou un prompt révoque celles qui peuvent encore être remplacées.</translation>
  </message>
  <message>
   <source>First steps</source>
   <translation>Premiers pas</translation>
  </message>
  <message>
   <source>Skip</source>
   <translation>Passer</translation>
  </message>
  <message>
   <source>Skip the first steps</source>
   <translation>Passer les premiers pas</translation>
  </message>
  <message>
   <source>the model is not loaded yet</source>
   <translation>Le modèle n’est pas encore chargé</translation>
  </message>
  <message>
   <source>nothing of that is kept any more</source>
   <translation>Il n’en reste plus rien</translation>
  </message>
  <message>
   <source>it could not be made: {error}</source>
   <translation>Impossible à faire : {error}</translation>
  </message>
  <message>
   <source>the window was closed before it was complete</source>
   <translation>La fenêtre a été fermée avant la fin</translation>
  </message>
  <message>
   <source>What the overlay shows</source>
   <translation>Ce que montre la surimpression</translation>
  </message>
  <message>
   <source>Keys</source>
   <translation>Touches</translation>
  </message>
  <message>
   <source>Log: {file}</source>
   <translation>Journal : {file}</translation>
  </message>
  <message>
   <source>About Foreland</source>
   <translation>À propos de Foreland</translation>
  </message>
  <message>
   <source>Start from an image or video</source>
   <translation>Commencer par une image ou une vidéo</translation>
  </message>
  <message>
   <source>Images and videos ({kinds})</source>
   <translation>Images et vidéos ({kinds})</translation>
  </message>
  <message>
   <source>Share this world</source>
   <translation>Partager ce monde</translation>
  </message>
  <message>
   <source>Nothing to explain yet: hold a key or change the prompt, and wait until it is seen</source>
   <translation>Rien à expliquer encore : tenez une touche ou changez le prompt, et attendez de le voir</translation>
  </message>
  <message>
   <source>asking the hub</source>
   <translation>le hub est interrogé</translation>
  </message>
  <message>
   <source>size and licence</source>
   <translation>taille et licence</translation>
  </message>
  <message>
   <source>{name}: {done} of {total}</source>
   <translation>{name} : {done} sur {total}</translation>
  </message>
  <message>
   <source>complete</source>
   <translation>complet</translation>
  </message>
  <message>
   <source>nothing was downloaded</source>
   <translation>Rien n’a été téléchargé</translation>
  </message>
  <message>
   <source>stopped</source>
   <translation>arrêté</translation>
  </message>
  <message>
   <source>checking</source>
   <translation>vérification</translation>
  </message>
  <message>
   <source>the picture could not be written to {folder}: {reason}</source>
   <translation>L’image n’a pas pu être écrite dans {folder} : {reason}</translation>
  </message>
  <message>
   <source>a world starts from a picture or a film of this machine: save it first, or copy the picture itself</source>
   <translation>Un monde commence par une image ou un film de cette machine : enregistrez-le d’abord, ou copiez l’image elle-même</translation>
  </message>
  <message>
   <source>{name} is not a picture or film of a known kind: {kinds}</source>
   <translation>{name} n’est ni une image ni un film d’un genre connu : {kinds}</translation>
  </message>
  <message>
   <source>it is not an image, or the disk is full</source>
   <translation>ce n’en est pas une, ou le disque est plein</translation>
  </message>
  <message>
   <source>The overlay at this moment</source>
   <translation>La surimpression à cet instant</translation>
  </message>
  <message>
   <source>What happened after your last change</source>
   <translation>Ce qui s’est passé après votre dernier changement</translation>
  </message>
  <message>
   <source>What happens</source>
   <translation>Ce qui se passe</translation>
  </message>
  <message>
   <source>Moment</source>
   <translation>Instant</translation>
  </message>
  <message>
   <source>Explore worlds that a video diffusion model generates as you move. It implements *Speculative Sampling in Interactive Video Generation* (Huang et al., 2026).</source>
   <translation>Explorez des mondes qu’un modèle de diffusion vidéo crée pendant que vous avancez. Il met en œuvre *Speculative Sampling in Interactive Video Generation* (Huang et al., 2026).</translation>
  </message>
  <message>
   <source>The pocket world is sampled by a small network that this project trained on a world that it renders itself.</source>
   <translation>Le monde de poche vient d’un petit réseau que ce projet a entraîné sur un monde qu’il dessine lui-même.</translation>
  </message>
  <message>
   <source>Models that you download have licences of their own, which are shown before a download.</source>
   <translation>Les modèles que vous téléchargez ont leurs propres licences, montrées avant le téléchargement.</translation>
  </message>
  <message>
   <source>| package | version | licence |</source>
   <translation>| paquet | version | licence |</translation>
  </message>
  <message>
   <source>Keys &gt; Edit and Keys &gt; Layout change those of the camera.</source>
   <translation>Touches &gt; Modifier et Touches &gt; Disposition changent celles de la caméra.</translation>
  </message>
  <message>
   <source>from a checkout</source>
   <translation>d’une copie de travail</translation>
  </message>
  <message>
   <source>Made with</source>
   <translation>Fait avec</translation>
  </message>
  <message>
   <source>see its files</source>
   <translation>voir ses fichiers</translation>
  </message>
  <message>
   <source>Menus</source>
   <translation>Menus</translation>
  </message>
  <message>
   <source>Paused</source>
   <translation>En pause</translation>
  </message>
  <message>
   <source>Decoding the next picture</source>
   <translation>Décodage de la prochaine image</translation>
  </message>
  <message>
   <source>Sampling the next picture: step {step} of {steps}</source>
   <translation>Calcul de la prochaine image : étape {step} sur {steps}</translation>
  </message>
  <message>
   <source>Waiting</source>
   <translation>Attente</translation>
  </message>
  <message>
   <source>move</source>
   <translation>se déplacer</translation>
  </message>
  <message>
   <source>turn and look</source>
   <translation>tourner et regarder</translation>
  </message>
  <message>
   <source>the right mouse button held and moved</source>
   <translation>le bouton droit de la souris tenu et déplacé</translation>
  </message>
  <message>
   <source>rise, sink</source>
   <translation>monter, descendre</translation>
  </message>
  <message>
   <source>go to the prompt box; there Enter applies, Esc leaves, Up and Down walk through the history</source>
   <translation>aller au prompt ; là, Entrée applique, Échap quitte, Haut et Bas parcourent l’historique</translation>
  </message>
  <message>
   <source>| keys | do |</source>
   <translation>| touches | font |</translation>
  </message>
  <message>
   <source>none</source>
   <translation>aucune</translation>
  </message>
  <message>
   <source>, or </source>
   <translation>, ou </translation>
  </message>
  <message>
   <source>{key} is “{other}” now. Make it “{action}”?</source>
   <translation>{key} est maintenant « {other} ». En faire « {action} » ?</translation>
  </message>
  <message>
   <source>Actions and their keys</source>
   <translation>Actions et leurs touches</translation>
  </message>
  <message>
   <source>Choose an action, then add a key or remove its keys</source>
   <translation>Choisissez une action, puis ajoutez une touche ou retirez les siennes</translation>
  </message>
  <message>
   <source>Note</source>
   <translation>Note</translation>
  </message>
  <message>
   <source>&amp;Add a key</source>
   <translation>&amp;Ajouter une touche</translation>
  </message>
  <message>
   <source>&amp;Remove its keys</source>
   <translation>&amp;Retirer ses touches</translation>
  </message>
  <message>
   <source>Press the key for “{action}”; Esc leaves it</source>
   <translation>Appuyez sur la touche pour « {action} » ; Échap renonce</translation>
  </message>
  <message>
   <source>{key} is “{action}”</source>
   <translation>{key} est « {action} »</translation>
  </message>
  <message>
   <source>does</source>
   <translation>fait</translation>
  </message>
  <message>
   <source>keys</source>
   <translation>touches</translation>
  </message>
  <message>
   <source>without a key: {actions}</source>
   <translation>sans touche : {actions}</translation>
  </message>
  <message>
   <source>Nothing was changed</source>
   <translation>Rien n’a été changé</translation>
  </message>
  <message>
   <source>This key is the program's own: press another, or Esc</source>
   <translation>Cette touche appartient au programme : appuyez sur une autre, ou Échap</translation>
  </message>
  <message>
   <source>Delete {name}?</source>
   <translation>Supprimer {name} ?</translation>
  </message>
  <message>
   <source>Recordings and pictures</source>
   <translation>Enregistrements et images</translation>
  </message>
  <message>
   <source>Nothing yet. Ctrl+Shift+R records a video, F12 saves a picture.</source>
   <translation>Rien encore. Ctrl+Shift+R enregistre une vidéo, F12 une image.</translation>
  </message>
  <message>
   <source>Open folder</source>
   <translation>Ouvrir le dossier</translation>
  </message>
  <message>
   <source>Rename ...</source>
   <translation>Renommer ...</translation>
  </message>
  <message>
   <source>Delete ...</source>
   <translation>Supprimer ...</translation>
  </message>
  <message>
   <source>Rename</source>
   <translation>Renommer</translation>
  </message>
  <message>
   <source>Name of the file</source>
   <translation>Nom du fichier</translation>
  </message>
  <message>
   <source>No program is there to open {file}</source>
   <translation>Aucun programme n’ouvre {file}</translation>
  </message>
  <message>
   <source>Delete</source>
   <translation>Supprimer</translation>
  </message>
  <message>
   <source>There is a file of this name already; nothing was changed</source>
   <translation>Un fichier de ce nom existe déjà ; rien n’a été changé</translation>
  </message>
  <message>
   <source>{error}; nothing was changed</source>
   <translation>{error} ; rien n’a été changé</translation>
  </message>
  <message>
   <source>starting</source>
   <translation>démarrage</translation>
  </message>
  <message>
   <source>importing torch</source>
   <translation>importation de torch</translation>
  </message>
  <message>
   <source>reading the pocket weights</source>
   <translation>lecture des poids du monde de poche</translation>
  </message>
  <message>
   <source>drawing what stands in it</source>
   <translation>dessin de ce qui s’y trouve</translation>
  </message>
  <message>
   <source>preparing the pocket world</source>
   <translation>préparation du monde de poche</translation>
  </message>
  <message>
   <source>closing the previous world</source>
   <translation>fermeture du monde précédent</translation>
  </message>
  <message>
   <source>first picture</source>
   <translation>première image</translation>
  </message>
  <message>
   <source>{stage}, step {step} of {steps}</source>
   <translation>{stage}, étape {step} sur {steps}</translation>
  </message>
  <message>
   <source>Foreland - {model} world</source>
   <translation>Foreland - monde {model}</translation>
  </message>
  <message>
   <source>This model has no camera: held keys become words of its prompt</source>
   <translation>Ce modèle n’a pas de caméra : les touches tenues deviennent des mots de son prompt</translation>
  </message>
  <message>
   <source>there is nothing to save yet</source>
   <translation>Il n’y a encore rien à enregistrer</translation>
  </message>
  <message>
   <source>Figures of the session</source>
   <translation>Chiffres de la session</translation>
  </message>
  <message>
   <source>cache, s</source>
   <translation>cache, s</translation>
  </message>
  <message>
   <source>L of updates, s</source>
   <translation>L des changements, s</translation>
  </message>
  <message>
   <source>C, s</source>
   <translation>C, s</translation>
  </message>
  <message>
   <source>revoked share</source>
   <translation>part révoquée</translation>
  </message>
  <message>
   <source>Plot of {figure}</source>
   <translation>Courbe : {figure}</translation>
  </message>
  <message>
   <source>{width} x {height}, {fps:g} frames a second</source>
   <translation>{width} x {height}, {fps:g} images par seconde</translation>
  </message>
  <message>
   <source>fits; download {n:.0f} GB</source>
   <translation>convient ; télécharger {n:.0f} Go</translation>
  </message>
  <message>
   <source>ready, needs no GPU</source>
   <translation>prêt, sans GPU</translation>
  </message>
  <message>
   <source>needs a GPU with {n:g} GB</source>
   <translation>demande un GPU de {n:g} Go</translation>
  </message>
  <message>
   <source>ready</source>
   <translation>prêt</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modèle</translation>
  </message>
  <message>
   <source>Installed</source>
   <translation>Installé</translation>
  </message>
  <message>
   <source>Download</source>
   <translation>Télécharger</translation>
  </message>
  <message>
   <source>GPU memory</source>
   <translation>Mémoire GPU</translation>
  </message>
  <message>
   <source>K</source>
   <translation>K</translation>
  </message>
  <message>
   <source>Licence</source>
   <translation>Licence</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>Modèles</translation>
  </message>
  <message>
   <source>About the model</source>
   <translation>À propos du modèle</translation>
  </message>
  <message>
   <source>&amp;Open</source>
   <translation>&amp;Ouvrir</translation>
  </message>
  <message>
   <source>&amp;Download ...</source>
   <translation>&amp;Télécharger ...</translation>
  </message>
  <message>
   <source>&amp;Cancel download</source>
   <translation>&amp;Annuler le téléchargement</translation>
  </message>
  <message>
   <source>Open a &amp;folder ...</source>
   <translation>Ouvrir un &amp;dossier ...</translation>
  </message>
  <message>
   <source>Open a f&amp;ile ...</source>
   <translation>Ouvrir un &amp;fichier ...</translation>
  </message>
  <message>
   <source>Folder of a checkpoint</source>
   <translation>Dossier d’un checkpoint</translation>
  </message>
  <message>
   <source>File of a checkpoint</source>
   <translation>Fichier d’un checkpoint</translation>
  </message>
  <message>
   <source>Checkpoints ({kinds})</source>
   <translation>Checkpoints ({kinds})</translation>
  </message>
  <message>
   <source>Licence: {licence}</source>
   <translation>Licence : {licence}</translation>
  </message>
  <message>
   <source>Do you agree to the licence and download it?</source>
   <translation>Acceptez-vous la licence et le téléchargement ?</translation>
  </message>
  <message>
   <source>Agree and download</source>
   <translation>Accepter et télécharger</translation>
  </message>
  <message>
   <source>It does not fit: free some space, then try again.</source>
   <translation>La place manque : libérez-en, puis réessayez.</translation>
  </message>
  <message>
   <source>yes</source>
   <translation>oui</translation>
  </message>
  <message>
   <source>no</source>
   <translation>non</translation>
  </message>
  <message>
   <source>about {n} GB</source>
   <translation>environ {n} Go</translation>
  </message>
  <message>
   <source>cannot be used</source>
   <translation>inutilisable</translation>
  </message>
  <message>
   <source>{free} are free in {folder}.</source>
   <translation>{free} sont libres dans {folder}.</translation>
  </message>
  <message>
   <source>{model} is installed</source>
   <translation>{model} est installé</translation>
  </message>
  <message>
   <source>steps: {n}</source>
   <translation>étapes : {n}</translation>
  </message>
  <message>
   <source>{model}: {total}, of which {there} are here already.</source>
   <translation>{model} : {total}, dont {there} sont déjà ici.</translation>
  </message>
  <message>
   <source>Message</source>
   <translation>Message</translation>
  </message>
  <message>
   <source>Dismiss</source>
   <translation>Masquer</translation>
  </message>
  <message>
   <source>Messages</source>
   <translation>Messages</translation>
  </message>
  <message>
   <source>played</source>
   <translation>joué</translation>
  </message>
  <message>
   <source>locked: it will play</source>
   <translation>verrouillé : sera joué</translation>
  </message>
  <message>
   <source>cached: a change can revoke it</source>
   <translation>en cache : un changement peut le révoquer</translation>
  </message>
  <message>
   <source>being sampled</source>
   <translation>en cours de calcul</translation>
  </message>
  <message>
   <source>revoked</source>
   <translation>révoqué</translation>
  </message>
  <message>
   <source>a key or prompt, and the first picture it changed</source>
   <translation>une touche ou un prompt, et la première image changée</translation>
  </message>
  <message>
   <source>produce</source>
   <translation>produit</translation>
  </message>
  <message>
   <source>consume</source>
   <translation>consomme</translation>
  </message>
  <message>
   <source>closed</source>
   <translation>fermé</translation>
  </message>
  <message>
   <source>speculative</source>
   <translation>spéculatif</translation>
  </message>
  <message>
   <source>chunk</source>
   <translation>bloc</translation>
  </message>
  <message>
   <source>loading</source>
   <translation>chargement</translation>
  </message>
  <message>
   <source>cache</source>
   <translation>cache</translation>
  </message>
  <message>
   <source>{n} groups, {seconds} s</source>
   <translation>{n} groupes, {seconds} s</translation>
  </message>
  <message>
   <source>state</source>
   <translation>état</translation>
  </message>
  <message>
   <source>commit</source>
   <translation>engagement</translation>
  </message>
  <message>
   <source>stalls</source>
   <translation>arrêts</translation>
  </message>
  <message>
   <source>latency</source>
   <translation>latence</translation>
  </message>
  <message>
   <source>of which the line</source>
   <translation>dont la ligne</translation>
  </message>
  <message>
   <source>(paused)</source>
   <translation>(en pause)</translation>
  </message>
  <message>
   <source>shared with</source>
   <translation>partagé avec</translation>
  </message>
  <message>
   <source>answer, step {step}/{steps}</source>
   <translation>réponse, étape {step}/{steps}</translation>
  </message>
  <message>
   <source>step {step}/{steps}</source>
   <translation>étape {step}/{steps}</translation>
  </message>
  <message>
   <source>now</source>
   <translation>maintenant</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Réglages</translation>
  </message>
  <message>
   <source>Takes</source>
   <translation>Prises</translation>
  </message>
  <message>
   <source>Score</source>
   <translation>Partition</translation>
  </message>
  <message>
   <source>Library</source>
   <translation>Collection</translation>
  </message>
  <message>
   <source>Metrics</source>
   <translation>Mesures</translation>
  </message>
  <message>
   <source>received</source>
   <translation>reçu</translation>
  </message>
  <message>
   <source>generating ...</source>
   <translation>génération ...</translation>
  </message>
  <message>
   <source>live</source>
   <translation>visible</translation>
  </message>
  <message>
   <source>superseded</source>
   <translation>dépassé</translation>
  </message>
  <message>
   <source>rejected</source>
   <translation>refusé</translation>
  </message>
  <message>
   <source>dropped</source>
   <translation>abandonné</translation>
  </message>
  <message>
   <source>live after {seconds} s</source>
   <translation>visible après {seconds} s</translation>
  </message>
  <message>
   <source>Describe the world.  Enter applies, Esc leaves</source>
   <translation>Décrivez le monde.  Entrée applique, Échap quitte</translation>
  </message>
  <message>
   <source>Prompt</source>
   <translation>Prompt</translation>
  </message>
  <message>
   <source>Prompt status</source>
   <translation>État du prompt</translation>
  </message>
  <message>
   <source>What the model understood</source>
   <translation>Ce que le modèle a compris</translation>
  </message>
  <message>
   <source>Keep this prompt as a favourite</source>
   <translation>Garder ce prompt comme favori</translation>
  </message>
  <message>
   <source>Favourite</source>
   <translation>Favori</translation>
  </message>
  <message>
   <source>Transition: </source>
   <translation>Transition : </translation>
  </message>
  <message>
   <source>Transition: none</source>
   <translation>Transition : aucune</translation>
  </message>
  <message>
   <source>How long the change to the next prompt takes. A longer one is made of several calls, and is gentler.</source>
   <translation>Durée du passage au prompt suivant. Une transition plus longue se fait en plusieurs appels, et plus doucement.</translation>
  </message>
  <message>
   <source>Length of the transition</source>
   <translation>Durée de la transition</translation>
  </message>
  <message>
   <source>Preset and favourite prompts</source>
   <translation>Prompts proposés et favoris</translation>
  </message>
  <message>
   <source>Presets</source>
   <translation>Proposés</translation>
  </message>
  <message>
   <source>not applied yet</source>
   <translation>pas encore appliqué</translation>
  </message>
  <message>
   <source>Enter a prompt</source>
   <translation>Entrez un prompt</translation>
  </message>
  <message>
   <source>too long: at most {n} characters</source>
   <translation>trop long : {n} caractères au plus</translation>
  </message>
  <message>
   <source>A score says prompts by itself, each at its time. Add a line to begin.</source>
   <translation>Une partition dit des prompts d’elle-même, chacun à son heure. Ajoutez une ligne pour commencer.</translation>
  </message>
  <message>
   <source>Score status</source>
   <translation>État de la partition</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>Arrêter</translation>
  </message>
  <message>
   <source>Open a score</source>
   <translation>Ouvrir une partition</translation>
  </message>
  <message>
   <source>Scores (*.json)</source>
   <translation>Partitions (*.json)</translation>
  </message>
  <message>
   <source>Save the score</source>
   <translation>Enregistrer la partition</translation>
  </message>
  <message>
   <source>at, s</source>
   <translation>à, s</translation>
  </message>
  <message>
   <source>prompt</source>
   <translation>prompt</translation>
  </message>
  <message>
   <source>transition, s</source>
   <translation>transition, s</translation>
  </message>
  <message>
   <source>Add line</source>
   <translation>Ajouter une ligne</translation>
  </message>
  <message>
   <source>Remove line</source>
   <translation>Retirer la ligne</translation>
  </message>
  <message>
   <source>Open ...</source>
   <translation>Ouvrir ...</translation>
  </message>
  <message>
   <source>Save ...</source>
   <translation>Enregistrer ...</translation>
  </message>
  <message>
   <source>finished</source>
   <translation>terminé</translation>
  </message>
  <message>
   <source>next in {seconds} s</source>
   <translation>suivant dans {seconds} s</translation>
  </message>
  <message>
   <source>{file}: {n} lines</source>
   <translation>{file} : {n} lignes</translation>
  </message>
  <message>
   <source>there is no line yet: add one</source>
   <translation>Il n’y a pas encore de ligne : ajoutez-en une</translation>
  </message>
  <message>
   <source>{error}; the lines here are as they were</source>
   <translation>{error} ; les lignes sont comme avant</translation>
  </message>
  <message>
   <source>{error}; nothing was saved</source>
   <translation>{error} ; rien n’a été enregistré</translation>
  </message>
  <message>
   <source>Chunk length K</source>
   <translation>Longueur de bloc K</translation>
  </message>
  <message>
   <source>K: latents that a call samples together. A longer chunk fills the cache further ahead and costs less for each picture; a call then takes longer, and so does your key where it has to wait for one.</source>
   <translation>K : latents qu’un appel calcule ensemble. Un bloc plus long remplit le cache plus loin et coûte moins par image ; un appel dure alors plus longtemps, et votre touche aussi quand elle doit en attendre un.</translation>
  </message>
  <message>
   <source>Denoising steps</source>
   <translation>Étapes de débruitage</translation>
  </message>
  <message>
   <source>Denoising steps of a call. More steps: better pictures, and a call takes longer in proportion.</source>
   <translation>Étapes de débruitage d’un appel. Plus d’étapes : de meilleures images, et un appel plus long d’autant.</translation>
  </message>
  <message>
   <source>Seed</source>
   <translation>Graine</translation>
  </message>
  <message>
   <source>Chooses the noise of the next new world. The same prompt and seed begin at the same place; it costs nothing.</source>
   <translation>Choisit le bruit du prochain nouveau monde. Le même prompt et la même graine commencent au même endroit ; cela ne coûte rien.</translation>
  </message>
  <message>
   <source>Commitment</source>
   <translation>Engagement</translation>
  </message>
  <message>
   <source>speculative: a change revokes the predictions that can still be replaced. Short latency, some sampling for nothing.
chunk: it waits for the chunk's end, as other engines do. No sampling for nothing, long latency.</source>
   <translation>spéculatif : un changement révoque les prédictions qui peuvent encore être remplacées. Latence courte, un peu de calcul pour rien.
bloc : il attend la fin du bloc, comme d’autres moteurs. Rien pour rien, latence longue.</translation>
  </message>
  <message>
   <source>Short answers</source>
   <translation>Réponses courtes</translation>
  </message>
  <message>
   <source>A key or prompt is answered by a shorter call, and a call of the full K follows. Quicker; the first pictures of an answer are sampled with few others, which can make them weaker.</source>
   <translation>Un appel plus court répond à une touche ou à un prompt, et un appel du K complet suit. Plus rapide ; les premières images d’une réponse sont calculées avec peu d’autres et peuvent être moins bonnes.</translation>
  </message>
  <message>
   <source>Answer within</source>
   <translation>Répondre en moins de</translation>
  </message>
  <message>
   <source>The longest answer that is seen within this time is taken. At the left end: the shortest answer.</source>
   <translation>La plus longue réponse visible dans ce délai est prise. Tout à gauche : la plus courte.</translation>
  </message>
  <message>
   <source>Stop outdated calls</source>
   <translation>Arrêter les appels dépassés</translation>
  </message>
  <message>
   <source>A call that a newer key or prompt makes worthless ends at its next denoising step, and a new one begins. Quicker where calls are long; at most two in a row are stopped.</source>
   <translation>Un appel qu’une touche ou un prompt plus récent rend inutile se termine à sa prochaine étape de débruitage, et un nouveau commence. Plus rapide quand les appels sont longs ; deux de suite au plus sont arrêtés.</translation>
  </message>
  <message>
   <source>History policy</source>
   <translation>Usage de l’historique</translation>
  </message>
  <message>
   <source>How what was played conditions the next call. A policy that runs it again costs time and forgets an old prompt sooner; the session log names it.</source>
   <translation>Comment ce qui a été joué conditionne l’appel suivant. Le recalculer prend du temps et oublie plus tôt un ancien prompt ; le journal le nomme.</translation>
  </message>
  <message>
   <source>About this model</source>
   <translation>À propos de ce modèle</translation>
  </message>
  <message>
   <source>the model's own; Enter applies</source>
   <translation>celui du modèle ; Entrée applique</translation>
  </message>
  <message>
   <source>Negative prompt</source>
   <translation>Prompt négatif</translation>
  </message>
  <message>
   <source>What not to show. A call costs twice as much with it, as the model runs with and without.</source>
   <translation>Ce qu’il ne faut pas montrer. Un appel coûte alors le double, car le modèle tourne avec et sans.</translation>
  </message>
  <message>
   <source>Resume</source>
   <translation>Reprendre</translation>
  </message>
  <message>
   <source>{seconds} s</source>
   <translation>{seconds} s</translation>
  </message>
  <message>
   <source>the shortest answer</source>
   <translation>la réponse la plus courte</translation>
  </message>
  <message>
   <source>Steps</source>
   <translation>Étapes</translation>
  </message>
  <message>
   <source>History</source>
   <translation>Historique</translation>
  </message>
  <message>
   <source>now K = {k}, seen after some {seconds} s</source>
   <translation>actuellement K = {k}, visible après {seconds} s environ</translation>
  </message>
  <message>
   <source>{seconds} s per chunk.</source>
   <translation>{seconds} s par bloc.</translation>
  </message>
  <message>
   <source>Panels</source>
   <translation>Panneaux</translation>
  </message>
  <message>
   <source>Go on where you were</source>
   <translation>Reprendre où vous étiez</translation>
  </message>
  <message>
   <source>Delete the world “{name}”? This cannot be undone.</source>
   <translation>Supprimer le monde « {name} » ? C’est définitif.</translation>
  </message>
  <message>
   <source>Name of the world</source>
   <translation>Nom du monde</translation>
  </message>
  <message>
   <source>&amp;Open a world file ...</source>
   <translation>&amp;Ouvrir un fichier de monde ...</translation>
  </message>
  <message>
   <source>Where to?</source>
   <translation>Où aller ?</translation>
  </message>
  <message>
   <source>Back to the world (Esc)</source>
   <translation>Retour au monde (Échap)</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>Fermer</translation>
  </message>
  <message>
   <source>Worlds</source>
   <translation>Mondes</translation>
  </message>
  <message>
   <source>Worlds, models, sessions</source>
   <translation>Mondes, modèles, sessions</translation>
  </message>
  <message>
   <source>Loading</source>
   <translation>Chargement</translation>
  </message>
  <message>
   <source>Show at the &amp;start</source>
   <translation>Montrer au &amp;démarrage</translation>
  </message>
  <message>
   <source>&amp;Enter</source>
   <translation>&amp;Entrer</translation>
  </message>
  <message>
   <source>Ready</source>
   <translation>Prêt</translation>
  </message>
  <message>
   <source>Recent sessions</source>
   <translation>Sessions récentes</translation>
  </message>
  <message>
   <source>&amp;Worlds</source>
   <translation>&amp;Mondes</translation>
  </message>
  <message>
   <source>&amp;Models</source>
   <translation>Mo&amp;dèles</translation>
  </message>
  <message>
   <source>&amp;Recent</source>
   <translation>&amp;Récents</translation>
  </message>
  <message>
   <source>{prompt} (seed {seed}, {model})</source>
   <translation>{prompt} (graine {seed}, {model})</translation>
  </message>
  <message>
   <source>You changed the prompt.</source>
   <translation>Vous avez changé le prompt.</translation>
  </message>
  <message>
   <source>You pressed or released a key.</source>
   <translation>Vous avez appuyé sur une touche ou l’avez lâchée.</translation>
  </message>
  <message>
   <source>Groups right of the line are sampled already. The outlined ones will play whatever you do; the others can be replaced.</source>
   <translation>Les groupes à droite de la ligne sont déjà calculés. Ceux qui sont encadrés seront joués quoi que vous fassiez ; les autres peuvent être remplacés.</translation>
  </message>
  <message>
   <source>The change is on the screen after {L} s: {R} s until its call began, {C} s of sampling, {Q} s until what was locked before it had played.</source>
   <translation>Le changement est à l’écran après {L} s : {R} s jusqu’au début de son appel, {C} s de calcul, {Q} s jusqu’à ce que ce qui était verrouillé avant soit joué.</translation>
  </message>
  <message>
   <source>The first changed group is there. It plays as soon as the groups before it have played.</source>
   <translation>Le premier groupe changé est là. Il sera joué dès que ceux d’avant l’auront été.</translation>
  </message>
  <message>
   <source>A call samples {n} groups under the new condition: step {step} of {steps}. Locked groups play meanwhile.</source>
   <translation>Un appel calcule {n} groupes sous la nouvelle condition : étape {step} sur {steps}. Les groupes verrouillés jouent pendant ce temps.</translation>
  </message>
  <message>
   <source>Its call begins as soon as the sampler is free.</source>
   <translation>Son appel commence dès que le calculateur est libre.</translation>
  </message>
  <message>
   <source>{n} groups that were sampled under the old condition are revoked.</source>
   <translation>{n} groupes calculés sous l’ancienne condition sont révoqués.</translation>
  </message>
  <message>
   <source>take {n}</source>
   <translation>prise {n}</translation>
  </message>
  <message>
   <source>(current)</source>
   <translation>(actuelle)</translation>
  </message>
  <message>
   <source>Preview of the chosen instant</source>
   <translation>Aperçu de l’instant choisi</translation>
  </message>
  <message>
   <source>Instant of the take</source>
   <translation>Instant de la prise</translation>
  </message>
  <message>
   <source>Go on from here</source>
   <translation>Continuer d’ici</translation>
  </message>
  <message>
   <source>Branch: the world goes on from the chosen group, another way</source>
   <translation>Bifurquer : le monde continue autrement à partir du groupe choisi</translation>
  </message>
  <message>
   <source>Compare with current take</source>
   <translation>Comparer à la prise actuelle</translation>
  </message>
  <message>
   <source>Both, from where they part</source>
   <translation>Les deux, à partir de leur séparation</translation>
  </message>
  <message>
   <source>What if</source>
   <translation>Et si</translation>
  </message>
  <message>
   <source>The suffix that was revoked last, beside what came instead</source>
   <translation>La suite révoquée en dernier, à côté de ce qui est venu à sa place</translation>
  </message>
  <message>
   <source>Minutes to export</source>
   <translation>Minutes à exporter</translation>
  </message>
  <message>
   <source>Export last minutes</source>
   <translation>Exporter les dernières minutes</translation>
  </message>
  <message>
   <source>An mp4 of what was played, made from the kept latents</source>
   <translation>Un mp4 de ce qui a été joué, fait des latents gardés</translation>
  </message>
  <message>
   <source>Clip</source>
   <translation>Extrait</translation>
  </message>
  <message>
   <source>A looping WebP of the {n:g} s before the chosen instant</source>
   <translation>Un WebP en boucle des {n:g} s avant l’instant choisi</translation>
  </message>
  <message>
   <source>Two takes</source>
   <translation>Deux prises</translation>
  </message>
  <message>
   <source>played instead</source>
   <translation>joué à la place</translation>
  </message>
  <message>
   <source>{reason}; nothing was written</source>
   <translation>{reason} ; rien n’a été écrit</translation>
  </message>
  <message>
   <source>group {n}, {seconds} s: {prompt}</source>
   <translation>groupe {n}, {seconds} s : {prompt}</translation>
  </message>
  <message>
   <source>choose another take than the current one to see both</source>
   <translation>choisissez une autre prise que l’actuelle pour voir les deux</translation>
  </message>
  <message>
   <source>nothing was revoked yet: press a key or change the prompt while the cache is deep</source>
   <translation>rien n’a encore été révoqué : appuyez sur une touche ou changez le prompt pendant que le cache est profond</translation>
  </message>
  <message>
   <source>Timeline</source>
   <translation>Ligne de temps</translation>
  </message>
  <message>
   <source>Drag the beginning of a prompt, or the end of its slope to make the transition longer</source>
   <translation>Tirez le début d’un prompt, ou la fin de sa pente pour allonger la transition</translation>
  </message>
  <message>
   <source>World</source>
   <translation>Monde</translation>
  </message>
  <message>
   <source>The world as the camera sees it. Keys move the camera; Enter goes to the prompt box.</source>
   <translation>Le monde vu par la caméra. Les touches la déplacent ; Entrée mène au prompt.</translation>
  </message>
  <message>
   <source>volume {share}</source>
   <translation>volume {share}</translation>
  </message>
  <message>
   <source>reading {name}: {share:.0%} (Esc stops it)</source>
   <translation>lecture de {name} : {share:.0%} (Échap arrête)</translation>
  </message>
  <message>
   <source>the world could not be saved: {error}</source>
   <translation>Le monde n’a pas pu être enregistré : {error}</translation>
  </message>
  <message>
   <source>{error}; the world goes on as before</source>
   <translation>{error} ; le monde continue comme avant</translation>
  </message>
  <message>
   <source>&amp;World</source>
   <translation>&amp;Monde</translation>
  </message>
  <message>
   <source>&amp;View</source>
   <translation>&amp;Vue</translation>
  </message>
  <message>
   <source>&amp;Sound</source>
   <translation>&amp;Son</translation>
  </message>
  <message>
   <source>&amp;Keys</source>
   <translation>&amp;Touches</translation>
  </message>
  <message>
   <source>&amp;Help</source>
   <translation>&amp;Aide</translation>
  </message>
  <message>
   <source>S&amp;tart screen</source>
   <translation>Écran d’&amp;accueil</translation>
  </message>
  <message>
   <source>worlds, models and past sessions to enter</source>
   <translation>mondes, modèles et sessions passées où entrer</translation>
  </message>
  <message>
   <source>&amp;Prompt</source>
   <translation>&amp;Prompt</translation>
  </message>
  <message>
   <source>go to the prompt box; Enter does it too</source>
   <translation>aller au prompt ; Entrée le fait aussi</translation>
  </message>
  <message>
   <source>P&amp;ause or resume</source>
   <translation>Pa&amp;use ou reprise</translation>
  </message>
  <message>
   <source>pause or resume; held keys are released</source>
   <translation>met en pause ou reprend ; les touches tenues sont lâchées</translation>
  </message>
  <message>
   <source>&amp;New world</source>
   <translation>&amp;Nouveau monde</translation>
  </message>
  <message>
   <source>a new world with this prompt and the panel's seed</source>
   <translation>un nouveau monde avec ce prompt et la graine des réglages</translation>
  </message>
  <message>
   <source>&amp;Save this world</source>
   <translation>Enregi&amp;strer ce monde</translation>
  </message>
  <message>
   <source>save prompt, seed, model and start image</source>
   <translation>enregistre prompt, graine, modèle et image de départ</translation>
  </message>
  <message>
   <source>S&amp;hare this world ...</source>
   <translation>Par&amp;tager ce monde ...</translation>
  </message>
  <message>
   <source>save this world as one file to send; it opens on the start screen or when it is dropped here</source>
   <translation>enregistrer ce monde en un seul fichier à envoyer ; il s'ouvre depuis l'écran d'accueil ou en le déposant ici</translation>
  </message>
  <message>
   <source>Start from an &amp;image or video ...</source>
   <translation>Commencer par une &amp;image ou une vidéo ...</translation>
  </message>
  <message>
   <source>a new world from an image or video</source>
   <translation>un nouveau monde à partir d’une image ou d’une vidéo</translation>
  </message>
  <message>
   <source>Clear start ima&amp;ge</source>
   <translation>Sans ima&amp;ge de départ</translation>
  </message>
  <message>
   <source>a new world without a start image</source>
   <translation>un nouveau monde sans image de départ</translation>
  </message>
  <message>
   <source>&amp;Models ...</source>
   <translation>&amp;Modèles ...</translation>
  </message>
  <message>
   <source>open or download another model</source>
   <translation>ouvrir ou télécharger un autre modèle</translation>
  </message>
  <message>
   <source>Go &amp;back two groups</source>
   <translation>&amp;Reculer de deux groupes</translation>
  </message>
  <message>
   <source>go on from two groups before, another way</source>
   <translation>continuer autrement, deux groupes plus tôt</translation>
  </message>
  <message>
   <source>&amp;Record video</source>
   <translation>Enregistrer une &amp;vidéo</translation>
  </message>
  <message>
   <source>start or end a video of what is shown</source>
   <translation>commencer ou finir une vidéo de ce qui est montré</translation>
  </message>
  <message>
   <source>Videos include the o&amp;verlay</source>
   <translation>Vi&amp;déos avec la surimpression</translation>
  </message>
  <message>
   <source>&amp;Export last minutes</source>
   <translation>&amp;Exporter les dernières minutes</translation>
  </message>
  <message>
   <source>a video of the last minutes, as many as the takes panel says</source>
   <translation>une vidéo des dernières minutes, autant que le dit le panneau des prises</translation>
  </message>
  <message>
   <source>Virt&amp;ual camera</source>
   <translation>Caméra virtue&amp;lle</translation>
  </message>
  <message>
   <source>the world as a camera for calls and streams</source>
   <translation>le monde comme caméra pour les appels et la diffusion</translation>
  </message>
  <message>
   <source>S&amp;creenshot</source>
   <translation>&amp;Capture d’écran</translation>
  </message>
  <message>
   <source>save what is shown as a PNG</source>
   <translation>enregistre ce qui est montré en PNG</translation>
  </message>
  <message>
   <source>&amp;Quit</source>
   <translation>&amp;Quitter</translation>
  </message>
  <message>
   <source>Speculation &amp;overlay</source>
   <translation>Surimpression spé&amp;culative</translation>
  </message>
  <message>
   <source>show or hide the speculation overlay</source>
   <translation>montrer ou cacher la surimpression spéculative</translation>
  </message>
  <message>
   <source>Full o&amp;verlay</source>
   <translation>Surimpressi&amp;on complète</translation>
  </message>
  <message>
   <source>every figure of the overlay, or the three that matter most</source>
   <translation>tous les chiffres de la surimpression, ou les trois qui comptent le plus</translation>
  </message>
  <message>
   <source>E&amp;xplain the last change</source>
   <translation>E&amp;xpliquer le dernier changement</translation>
  </message>
  <message>
   <source>what the overlay showed after your last key or prompt, slowly and in words</source>
   <translation>ce que montrait la surimpression après votre dernière touche ou prompt, lentement et en mots</translation>
  </message>
  <message>
   <source>Save the overlay as a &amp;picture</source>
   <translation>Enregistrer la surim&amp;pression en image</translation>
  </message>
  <message>
   <source>the overlay of this instant as SVG and PNG, for a talk</source>
   <translation>la surimpression de cet instant en SVG et PNG, pour un exposé</translation>
  </message>
  <message>
   <source>Switch &amp;commitment</source>
   <translation>Changer d’en&amp;gagement</translation>
  </message>
  <message>
   <source>switch between speculative and chunk commitment</source>
   <translation>passer d’un engagement à l’autre, spéculatif ou par bloc</translation>
  </message>
  <message>
   <source>&amp;Smooth scaling</source>
   <translation>&amp;Lissage</translation>
  </message>
  <message>
   <source>smooth or sharp scaling</source>
   <translation>mise à l’échelle lisse ou nette</translation>
  </message>
  <message>
   <source>&amp;Full screen</source>
   <translation>Pl&amp;ein écran</translation>
  </message>
  <message>
   <source>the picture alone on the whole screen; Esc comes back</source>
   <translation>l’image seule sur tout l’écran ; Échap revient</translation>
  </message>
  <message>
   <source>S&amp;ettings</source>
   <translation>&amp;Réglages</translation>
  </message>
  <message>
   <source>show or hide the settings</source>
   <translation>montrer ou cacher les réglages</translation>
  </message>
  <message>
   <source>&amp;Takes</source>
   <translation>Pr&amp;ises</translation>
  </message>
  <message>
   <source>show or hide the takes</source>
   <translation>montrer ou cacher les prises</translation>
  </message>
  <message>
   <source>Li&amp;brary</source>
   <translation>Collec&amp;tion</translation>
  </message>
  <message>
   <source>show or hide recordings and pictures</source>
   <translation>montrer ou cacher enregistrements et images</translation>
  </message>
  <message>
   <source>&amp;Metrics</source>
   <translation>&amp;Mesures</translation>
  </message>
  <message>
   <source>show or hide the metrics</source>
   <translation>montrer ou cacher les mesures</translation>
  </message>
  <message>
   <source>Sco&amp;re</source>
   <translation>P&amp;artition</translation>
  </message>
  <message>
   <source>show or hide the score</source>
   <translation>montrer ou cacher la partition</translation>
  </message>
  <message>
   <source>&amp;Larger text</source>
   <translation>Texte pl&amp;us grand</translation>
  </message>
  <message>
   <source>Sm&amp;aller text</source>
   <translation>Texte plu&amp;s petit</translation>
  </message>
  <message>
   <source>Reduce mot&amp;ion</source>
   <translation>Réduire les mou&amp;vements</translation>
  </message>
  <message>
   <source>nothing moves by itself but the world</source>
   <translation>rien ne bouge de soi-même sauf le monde</translation>
  </message>
  <message>
   <source>&amp;Normal text</source>
   <translation>Texte &amp;normal</translation>
  </message>
  <message>
   <source>&amp;Mute</source>
   <translation>&amp;Muet</translation>
  </message>
  <message>
   <source>mute, and back</source>
   <translation>muet, et retour</translation>
  </message>
  <message>
   <source>&amp;Louder</source>
   <translation>Plus &amp;fort</translation>
  </message>
  <message>
   <source>&amp;Quieter</source>
   <translation>Moins for&amp;t</translation>
  </message>
  <message>
   <source>&amp;Edit ...</source>
   <translation>&amp;Modifier ...</translation>
  </message>
  <message>
   <source>&amp;Gamepad</source>
   <translation>Ma&amp;nette</translation>
  </message>
  <message>
   <source>G&amp;lobal keys (while other windows are used)</source>
   <translation>Touches &amp;globales (dans d’autres fenêtres)</translation>
  </message>
  <message>
   <source>What the &amp;overlay shows</source>
   <translation>Ce que montre la &amp;surimpression</translation>
  </message>
  <message>
   <source>explain the overlay</source>
   <translation>expliquer la surimpression</translation>
  </message>
  <message>
   <source>Open &amp;log</source>
   <translation>Ouvrir le &amp;journal</translation>
  </message>
  <message>
   <source>what the program noted, with the details of errors</source>
   <translation>ce que le programme a noté, avec le détail des erreurs</translation>
  </message>
  <message>
   <source>&amp;About Foreland</source>
   <translation>À &amp;propos de Foreland</translation>
  </message>
  <message>
   <source>WASD and arrows</source>
   <translation>WASD et flèches</translation>
  </message>
  <message>
   <source>ZQSD and arrows</source>
   <translation>ZQSD et flèches</translation>
  </message>
  <message>
   <source>Arrows only</source>
   <translation>Flèches seules</translation>
  </message>
  <message>
   <source>Left-handed (IJKL)</source>
   <translation>Gaucher (IJKL)</translation>
  </message>
  <message>
   <source>my keys</source>
   <translation>mes touches</translation>
  </message>
 </context>
</TS>
