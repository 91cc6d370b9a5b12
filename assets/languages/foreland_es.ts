<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="es" sourcelanguage="en">
 <context>
  <name>Foreland</name>
  <message>
   <source>the sound device went away; the world plays on in silence until there is one again</source>
   <translation>El dispositivo de sonido ha desaparecido; el mundo sigue en silencio hasta que vuelva a haber uno</translation>
  </message>
  <message>
   <source>sound is back</source>
   <translation>El sonido ha vuelto</translation>
  </message>
  <message>
   <source>no sound device can be used ({error}); the world plays on in silence</source>
   <translation>No se puede usar ningún dispositivo de sonido ({error}); el mundo sigue en silencio</translation>
  </message>
  <message>
   <source>gamepad</source>
   <translation>mando</translation>
  </message>
  <message>
   <source>gamepads need the package pygame-ce: pip install 'foreland[gamepad]'</source>
   <translation>Los mandos necesitan el paquete pygame-ce: pip install 'foreland[gamepad]'</translation>
  </message>
  <message>
   <source>gamepads cannot be read here: {error}</source>
   <translation>Los mandos no se pueden leer aquí: {error}</translation>
  </message>
  <message>
   <source>global keys</source>
   <translation>teclas globales</translation>
  </message>
  <message>
   <source>Wayland lets no program see keys of other windows: start an X11 session, or use the window's own keys</source>
   <translation>Wayland no muestra a ningún programa las teclas de otras ventanas: inicia una sesión X11 o usa las teclas de la ventana</translation>
  </message>
  <message>
   <source>there is no X display here</source>
   <translation>Aquí no hay pantalla X</translation>
  </message>
  <message>
   <source>macOS forbids it until Foreland is allowed under {where}</source>
   <translation>macOS lo prohíbe hasta que Foreland esté permitido en {where}</translation>
  </message>
  <message>
   <source>global keys need the package pynput ({error}): pip install 'foreland[keys]'</source>
   <translation>Las teclas globales necesitan el paquete pynput ({error}): pip install 'foreland[keys]'</translation>
  </message>
  <message>
   <source>forward</source>
   <translation>adelante</translation>
  </message>
  <message>
   <source>back</source>
   <translation>atrás</translation>
  </message>
  <message>
   <source>left</source>
   <translation>izquierda</translation>
  </message>
  <message>
   <source>right</source>
   <translation>derecha</translation>
  </message>
  <message>
   <source>turn left</source>
   <translation>girar a la izquierda</translation>
  </message>
  <message>
   <source>turn right</source>
   <translation>girar a la derecha</translation>
  </message>
  <message>
   <source>look up</source>
   <translation>mirar arriba</translation>
  </message>
  <message>
   <source>look down</source>
   <translation>mirar abajo</translation>
  </message>
  <message>
   <source>rise</source>
   <translation>subir</translation>
  </message>
  <message>
   <source>sink</source>
   <translation>bajar</translation>
  </message>
  <message>
   <source>global keys on</source>
   <translation>teclas globales activas</translation>
  </message>
  <message>
   <source>global keys: {reason}</source>
   <translation>teclas globales: {reason}</translation>
  </message>
  <message>
   <source>mouse</source>
   <translation>ratón</translation>
  </message>
  <message>
   <source>; {n} frames are missing in it: the encoder was too slow for this machine</source>
   <translation>; faltan {n} imágenes: el codificador era demasiado lento para esta máquina</translation>
  </message>
  <message>
   <source>recorded {file}</source>
   <translation>Grabado: {file}</translation>
  </message>
  <message>
   <source>no virtual camera can be opened here: {error}</source>
   <translation>Aquí no se puede abrir ninguna cámara virtual: {error}</translation>
  </message>
  <message>
   <source>a virtual camera needs the package pyvirtualcam: pip install 'foreland[camera]'</source>
   <translation>Una cámara virtual necesita el paquete pyvirtualcam: pip install 'foreland[camera]'</translation>
  </message>
  <message>
   <source>saved {file}</source>
   <translation>Guardado: {file}</translation>
  </message>
  <message>
   <source>the screenshot could not be written to {file}</source>
   <translation>La captura no se pudo escribir en {file}</translation>
  </message>
  <message>
   <source>Other programs see this world as the camera {name}</source>
   <translation>Otros programas ven este mundo como la cámara {name}</translation>
  </message>
  <message>
   <source>The overlay could not be saved: {error}</source>
   <translation>No se pudo guardar la superposición: {error}</translation>
  </message>
  <message>
   <source>{error}; nothing is recorded</source>
   <translation>{error}; no se graba nada</translation>
  </message>
  <message>
   <source>as the system</source>
   <translation>como el sistema</translation>
  </message>
  <message>
   <source>dark</source>
   <translation>oscuro</translation>
  </message>
  <message>
   <source>light</source>
   <translation>claro</translation>
  </message>
  <message>
   <source>T&amp;heme</source>
   <translation>&amp;Tema</translation>
  </message>
  <message>
   <source>Lan&amp;guage</source>
   <translation>I&amp;dioma</translation>
  </message>
  <message>
   <source>&amp;Device</source>
   <translation>&amp;Dispositivo</translation>
  </message>
  <message>
   <source>&amp;Layout</source>
   <translation>&amp;Disposición</translation>
  </message>
  <message>
   <source>Mouse s&amp;ensitivity</source>
   <translation>S&amp;ensibilidad del ratón</translation>
  </message>
  <message>
   <source>The language changes at the next start.</source>
   <translation>El idioma cambia en el próximo inicio.</translation>
  </message>
  <message>
   <source>system default</source>
   <translation>el del sistema</translation>
  </message>
  <message>
   <source>Time</source>
   <translation>Tiempo</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>Pausa</translation>
  </message>
  <message>
   <source>decoding ...</source>
   <translation>decodificando ...</translation>
  </message>
  <message>
   <source>Play</source>
   <translation>Reproducir</translation>
  </message>
  <message>
   <source>Walk</source>
   <translation>Andar</translation>
  </message>
  <message>
   <source>Hold {move} to walk and {turn} to turn. The picture follows after a moment: it is sampled as you go.</source>
   <translation>Mantén {move} para andar y {turn} para girar. La imagen sigue tras un momento: se calcula mientras avanzas.</translation>
  </message>
  <message>
   <source>Say</source>
   <translation>Decir</translation>
  </message>
  <message>
   <source>Press Enter, describe another place, time or weather, and press Enter again. You need not stop walking.</source>
   <translation>Pulsa Intro, describe otro lugar, otra hora u otro tiempo, y pulsa Intro otra vez. No hace falta dejar de andar.</translation>
  </message>
  <message>
   <source>See the future</source>
   <translation>Ver el futuro</translation>
  </message>
  <message>
   <source>Press {key}: the boxes right of the line are pictures that are sampled already. A key or a prompt revokes those that can still be replaced.</source>
   <translation>Pulsa {key}: las cajas a la derecha de la línea son imágenes ya calculadas. Una tecla o un prompt revoca las que aún se pueden sustituir.</translation>
  </message>
  <message>
   <source>First steps</source>
   <translation>Primeros pasos</translation>
  </message>
  <message>
   <source>Skip</source>
   <translation>Saltar</translation>
  </message>
  <message>
   <source>Skip the first steps</source>
   <translation>Saltar los primeros pasos</translation>
  </message>
  <message>
   <source>the model is not loaded yet</source>
   <translation>El modelo aún no está cargado</translation>
  </message>
  <message>
   <source>nothing of that is kept any more</source>
   <translation>De eso ya no queda nada</translation>
  </message>
  <message>
   <source>it could not be made: {error}</source>
   <translation>No se pudo hacer: {error}</translation>
  </message>
  <message>
   <source>the window was closed before it was complete</source>
   <translation>La ventana se cerró antes de que estuviera completo</translation>
  </message>
  <message>
   <source>What the overlay shows</source>
   <translation>Lo que muestra la superposición</translation>
  </message>
  <message>
   <source>Keys</source>
   <translation>Teclas</translation>
  </message>
  <message>
   <source>Log: {file}</source>
   <translation>Registro: {file}</translation>
  </message>
  <message>
   <source>About Foreland</source>
   <translation>Acerca de Foreland</translation>
  </message>
  <message>
   <source>Start from an image or video</source>
   <translation>Empezar con una imagen o un vídeo</translation>
  </message>
  <message>
   <source>Images and videos ({kinds})</source>
   <translation>Imágenes y vídeos ({kinds})</translation>
  </message>
  <message>
   <source>Share this world</source>
   <translation>Compartir este mundo</translation>
  </message>
  <message>
   <source>Nothing to explain yet: hold a key or change the prompt, and wait until it is seen</source>
   <translation>Nada que explicar todavía: mantén una tecla o cambia el prompt, y espera a verlo</translation>
  </message>
  <message>
   <source>asking the hub</source>
   <translation>se pregunta al hub</translation>
  </message>
  <message>
   <source>size and licence</source>
   <translation>tamaño y licencia</translation>
  </message>
  <message>
   <source>{name}: {done} of {total}</source>
   <translation>{name}: {done} de {total}</translation>
  </message>
  <message>
   <source>complete</source>
   <translation>completo</translation>
  </message>
  <message>
   <source>nothing was downloaded</source>
   <translation>No se descargó nada</translation>
  </message>
  <message>
   <source>stopped</source>
   <translation>detenido</translation>
  </message>
  <message>
   <source>checking</source>
   <translation>comprobando</translation>
  </message>
  <message>
   <source>the picture could not be written to {folder}: {reason}</source>
   <translation>La imagen no se pudo escribir en {folder}: {reason}</translation>
  </message>
  <message>
   <source>a world starts from a picture or a film of this machine: save it first, or copy the picture itself</source>
   <translation>Un mundo empieza con una imagen o película de esta máquina: guárdala primero, o copia la imagen misma</translation>
  </message>
  <message>
   <source>{name} is not a picture or film of a known kind: {kinds}</source>
   <translation>{name} no es una imagen ni una película de un tipo conocido: {kinds}</translation>
  </message>
  <message>
   <source>it is not an image, or the disk is full</source>
   <translation>no lo es, o el disco está lleno</translation>
  </message>
  <message>
   <source>The overlay at this moment</source>
   <translation>La superposición en este momento</translation>
  </message>
  <message>
   <source>What happened after your last change</source>
   <translation>Qué pasó tras tu último cambio</translation>
  </message>
  <message>
   <source>What happens</source>
   <translation>Qué pasa</translation>
  </message>
  <message>
   <source>Moment</source>
   <translation>Momento</translation>
  </message>
  <message>
   <source>Explore worlds that a video diffusion model generates as you move. It implements *Speculative Sampling in Interactive Video Generation* (Huang et al., 2026).</source>
   <translation>Explora mundos que un modelo de difusión de vídeo crea mientras te mueves. Pone en práctica *Speculative Sampling in Interactive Video Generation* (Huang et al., 2026).</translation>
  </message>
  <message>
   <source>The pocket world is sampled by a small network that this project trained on a world that it renders itself.</source>
   <translation>El mundo de bolsillo sale de una red pequeña que este proyecto entrenó con un mundo que dibuja él mismo.</translation>
  </message>
  <message>
   <source>Models that you download have licences of their own, which are shown before a download.</source>
   <translation>Los modelos que descargas tienen sus propias licencias, que se muestran antes de la descarga.</translation>
  </message>
  <message>
   <source>| package | version | licence |</source>
   <translation>| paquete | versión | licencia |</translation>
  </message>
  <message>
   <source>Keys &gt; Edit and Keys &gt; Layout change those of the camera.</source>
   <translation>Teclas &gt; Editar y Teclas &gt; Disposición cambian las de la cámara.</translation>
  </message>
  <message>
   <source>from a checkout</source>
   <translation>de una copia de trabajo</translation>
  </message>
  <message>
   <source>Made with</source>
   <translation>Hecho con</translation>
  </message>
  <message>
   <source>see its files</source>
   <translation>ver sus archivos</translation>
  </message>
  <message>
   <source>Menus</source>
   <translation>Menús</translation>
  </message>
  <message>
   <source>Paused</source>
   <translation>En pausa</translation>
  </message>
  <message>
   <source>Decoding the next picture</source>
   <translation>Decodificando la próxima imagen</translation>
  </message>
  <message>
   <source>Sampling the next picture: step {step} of {steps}</source>
   <translation>Calculando la próxima imagen: paso {step} de {steps}</translation>
  </message>
  <message>
   <source>Waiting</source>
   <translation>Esperando</translation>
  </message>
  <message>
   <source>move</source>
   <translation>moverse</translation>
  </message>
  <message>
   <source>turn and look</source>
   <translation>girar y mirar</translation>
  </message>
  <message>
   <source>the right mouse button held and moved</source>
   <translation>el botón derecho del ratón, mantenido y movido</translation>
  </message>
  <message>
   <source>rise, sink</source>
   <translation>subir, bajar</translation>
  </message>
  <message>
   <source>go to the prompt box; there Enter applies, Esc leaves, Up and Down walk through the history</source>
   <translation>ir al prompt; allí Intro aplica, Esc sale, Arriba y Abajo recorren el historial</translation>
  </message>
  <message>
   <source>| keys | do |</source>
   <translation>| teclas | hacen |</translation>
  </message>
  <message>
   <source>none</source>
   <translation>ninguna</translation>
  </message>
  <message>
   <source>, or </source>
   <translation>, o </translation>
  </message>
  <message>
   <source>{key} is “{other}” now. Make it “{action}”?</source>
   <translation>{key} es ahora «{other}». ¿Hacerla «{action}»?</translation>
  </message>
  <message>
   <source>Actions and their keys</source>
   <translation>Acciones y sus teclas</translation>
  </message>
  <message>
   <source>Choose an action, then add a key or remove its keys</source>
   <translation>Elige una acción y añade una tecla o quita las suyas</translation>
  </message>
  <message>
   <source>Note</source>
   <translation>Nota</translation>
  </message>
  <message>
   <source>&amp;Add a key</source>
   <translation>&amp;Añadir una tecla</translation>
  </message>
  <message>
   <source>&amp;Remove its keys</source>
   <translation>&amp;Quitar sus teclas</translation>
  </message>
  <message>
   <source>Press the key for “{action}”; Esc leaves it</source>
   <translation>Pulsa la tecla para «{action}»; Esc lo deja</translation>
  </message>
  <message>
   <source>{key} is “{action}”</source>
   <translation>{key} es «{action}»</translation>
  </message>
  <message>
   <source>does</source>
   <translation>hace</translation>
  </message>
  <message>
   <source>keys</source>
   <translation>teclas</translation>
  </message>
  <message>
   <source>without a key: {actions}</source>
   <translation>sin tecla: {actions}</translation>
  </message>
  <message>
   <source>Nothing was changed</source>
   <translation>No se cambió nada</translation>
  </message>
  <message>
   <source>This key is the program's own: press another, or Esc</source>
   <translation>Esta tecla es del programa: pulsa otra, o Esc</translation>
  </message>
  <message>
   <source>Delete {name}?</source>
   <translation>¿Borrar {name}?</translation>
  </message>
  <message>
   <source>Recordings and pictures</source>
   <translation>Grabaciones e imágenes</translation>
  </message>
  <message>
   <source>Nothing yet. Ctrl+Shift+R records a video, F12 saves a picture.</source>
   <translation>Nada todavía. Ctrl+Shift+R graba un vídeo, F12 guarda una imagen.</translation>
  </message>
  <message>
   <source>Open folder</source>
   <translation>Abrir carpeta</translation>
  </message>
  <message>
   <source>Rename ...</source>
   <translation>Renombrar ...</translation>
  </message>
  <message>
   <source>Delete ...</source>
   <translation>Borrar ...</translation>
  </message>
  <message>
   <source>Rename</source>
   <translation>Renombrar</translation>
  </message>
  <message>
   <source>Name of the file</source>
   <translation>Nombre del archivo</translation>
  </message>
  <message>
   <source>No program is there to open {file}</source>
   <translation>No hay programa que abra {file}</translation>
  </message>
  <message>
   <source>Delete</source>
   <translation>Borrar</translation>
  </message>
  <message>
   <source>There is a file of this name already; nothing was changed</source>
   <translation>Ya hay un archivo con ese nombre; no se cambió nada</translation>
  </message>
  <message>
   <source>{error}; nothing was changed</source>
   <translation>{error}; no se cambió nada</translation>
  </message>
  <message>
   <source>starting</source>
   <translation>empezando</translation>
  </message>
  <message>
   <source>importing torch</source>
   <translation>importando torch</translation>
  </message>
  <message>
   <source>reading the pocket weights</source>
   <translation>leyendo los pesos del mundo de bolsillo</translation>
  </message>
  <message>
   <source>drawing what stands in it</source>
   <translation>dibujando lo que hay en él</translation>
  </message>
  <message>
   <source>preparing the pocket world</source>
   <translation>preparando el mundo de bolsillo</translation>
  </message>
  <message>
   <source>closing the previous world</source>
   <translation>cerrando el mundo anterior</translation>
  </message>
  <message>
   <source>first picture</source>
   <translation>primera imagen</translation>
  </message>
  <message>
   <source>{stage}, step {step} of {steps}</source>
   <translation>{stage}, paso {step} de {steps}</translation>
  </message>
  <message>
   <source>Foreland - {model} world</source>
   <translation>Foreland - mundo {model}</translation>
  </message>
  <message>
   <source>This model has no camera: held keys become words of its prompt</source>
   <translation>Este modelo no tiene cámara: las teclas mantenidas se vuelven palabras de su prompt</translation>
  </message>
  <message>
   <source>there is nothing to save yet</source>
   <translation>Aún no hay nada que guardar</translation>
  </message>
  <message>
   <source>Figures of the session</source>
   <translation>Cifras de la sesión</translation>
  </message>
  <message>
   <source>cache, s</source>
   <translation>caché, s</translation>
  </message>
  <message>
   <source>L of updates, s</source>
   <translation>L de los cambios, s</translation>
  </message>
  <message>
   <source>C, s</source>
   <translation>C, s</translation>
  </message>
  <message>
   <source>revoked share</source>
   <translation>parte revocada</translation>
  </message>
  <message>
   <source>Plot of {figure}</source>
   <translation>Curva: {figure}</translation>
  </message>
  <message>
   <source>{width} x {height}, {fps:g} frames a second</source>
   <translation>{width} x {height}, {fps:g} imágenes por segundo</translation>
  </message>
  <message>
   <source>fits; download {n:.0f} GB</source>
   <translation>cabe; descargar {n:.0f} GB</translation>
  </message>
  <message>
   <source>ready, needs no GPU</source>
   <translation>listo, no necesita GPU</translation>
  </message>
  <message>
   <source>needs a GPU with {n:g} GB</source>
   <translation>necesita una GPU de {n:g} GB</translation>
  </message>
  <message>
   <source>ready</source>
   <translation>listo</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modelo</translation>
  </message>
  <message>
   <source>Installed</source>
   <translation>Instalado</translation>
  </message>
  <message>
   <source>Download</source>
   <translation>Descarga</translation>
  </message>
  <message>
   <source>GPU memory</source>
   <translation>Memoria de GPU</translation>
  </message>
  <message>
   <source>K</source>
   <translation>K</translation>
  </message>
  <message>
   <source>Licence</source>
   <translation>Licencia</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>Modelos</translation>
  </message>
  <message>
   <source>About the model</source>
   <translation>Acerca del modelo</translation>
  </message>
  <message>
   <source>&amp;Open</source>
   <translation>&amp;Abrir</translation>
  </message>
  <message>
   <source>&amp;Download ...</source>
   <translation>&amp;Descargar ...</translation>
  </message>
  <message>
   <source>&amp;Cancel download</source>
   <translation>&amp;Cancelar descarga</translation>
  </message>
  <message>
   <source>Open a &amp;folder ...</source>
   <translation>Abrir una &amp;carpeta ...</translation>
  </message>
  <message>
   <source>Open a f&amp;ile ...</source>
   <translation>Abrir un a&amp;rchivo ...</translation>
  </message>
  <message>
   <source>Folder of a checkpoint</source>
   <translation>Carpeta de un checkpoint</translation>
  </message>
  <message>
   <source>File of a checkpoint</source>
   <translation>Archivo de un checkpoint</translation>
  </message>
  <message>
   <source>Checkpoints ({kinds})</source>
   <translation>Checkpoints ({kinds})</translation>
  </message>
  <message>
   <source>Licence: {licence}</source>
   <translation>Licencia: {licence}</translation>
  </message>
  <message>
   <source>Do you agree to the licence and download it?</source>
   <translation>¿Aceptas la licencia y lo descargas?</translation>
  </message>
  <message>
   <source>Agree and download</source>
   <translation>Aceptar y descargar</translation>
  </message>
  <message>
   <source>It does not fit: free some space, then try again.</source>
   <translation>No cabe: libera espacio e inténtalo otra vez.</translation>
  </message>
  <message>
   <source>yes</source>
   <translation>sí</translation>
  </message>
  <message>
   <source>no</source>
   <translation>no</translation>
  </message>
  <message>
   <source>about {n} GB</source>
   <translation>unos {n} GB</translation>
  </message>
  <message>
   <source>cannot be used</source>
   <translation>no se puede usar</translation>
  </message>
  <message>
   <source>{free} are free in {folder}.</source>
   <translation>{free} libres en {folder}.</translation>
  </message>
  <message>
   <source>{model} is installed</source>
   <translation>{model} está instalado</translation>
  </message>
  <message>
   <source>steps: {n}</source>
   <translation>pasos: {n}</translation>
  </message>
  <message>
   <source>{model}: {total}, of which {there} are here already.</source>
   <translation>{model}: {total}, de los que {there} ya están aquí.</translation>
  </message>
  <message>
   <source>Message</source>
   <translation>Mensaje</translation>
  </message>
  <message>
   <source>Dismiss</source>
   <translation>Ocultar</translation>
  </message>
  <message>
   <source>Messages</source>
   <translation>Mensajes</translation>
  </message>
  <message>
   <source>played</source>
   <translation>reproducido</translation>
  </message>
  <message>
   <source>locked: it will play</source>
   <translation>fijo: se reproducirá</translation>
  </message>
  <message>
   <source>cached: a change can revoke it</source>
   <translation>en caché: un cambio puede revocarlo</translation>
  </message>
  <message>
   <source>being sampled</source>
   <translation>calculándose</translation>
  </message>
  <message>
   <source>revoked</source>
   <translation>revocado</translation>
  </message>
  <message>
   <source>a key or prompt, and the first picture it changed</source>
   <translation>una tecla o un prompt, y la primera imagen que cambió</translation>
  </message>
  <message>
   <source>produce</source>
   <translation>produce</translation>
  </message>
  <message>
   <source>consume</source>
   <translation>consume</translation>
  </message>
  <message>
   <source>closed</source>
   <translation>cerrado</translation>
  </message>
  <message>
   <source>speculative</source>
   <translation>especulativo</translation>
  </message>
  <message>
   <source>chunk</source>
   <translation>bloque</translation>
  </message>
  <message>
   <source>loading</source>
   <translation>cargando</translation>
  </message>
  <message>
   <source>cache</source>
   <translation>caché</translation>
  </message>
  <message>
   <source>{n} groups, {seconds} s</source>
   <translation>{n} grupos, {seconds} s</translation>
  </message>
  <message>
   <source>state</source>
   <translation>estado</translation>
  </message>
  <message>
   <source>commit</source>
   <translation>compromiso</translation>
  </message>
  <message>
   <source>stalls</source>
   <translation>paradas</translation>
  </message>
  <message>
   <source>latency</source>
   <translation>latencia</translation>
  </message>
  <message>
   <source>of which the line</source>
   <translation>de ello, la línea</translation>
  </message>
  <message>
   <source>(paused)</source>
   <translation>(en pausa)</translation>
  </message>
  <message>
   <source>shared with</source>
   <translation>compartido con</translation>
  </message>
  <message>
   <source>answer, step {step}/{steps}</source>
   <translation>respuesta, paso {step}/{steps}</translation>
  </message>
  <message>
   <source>step {step}/{steps}</source>
   <translation>paso {step}/{steps}</translation>
  </message>
  <message>
   <source>now</source>
   <translation>ahora</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Ajustes</translation>
  </message>
  <message>
   <source>Takes</source>
   <translation>Tomas</translation>
  </message>
  <message>
   <source>Score</source>
   <translation>Partitura</translation>
  </message>
  <message>
   <source>Library</source>
   <translation>Colección</translation>
  </message>
  <message>
   <source>Metrics</source>
   <translation>Medidas</translation>
  </message>
  <message>
   <source>received</source>
   <translation>recibido</translation>
  </message>
  <message>
   <source>generating ...</source>
   <translation>generando ...</translation>
  </message>
  <message>
   <source>live</source>
   <translation>visible</translation>
  </message>
  <message>
   <source>superseded</source>
   <translation>superado</translation>
  </message>
  <message>
   <source>rejected</source>
   <translation>rechazado</translation>
  </message>
  <message>
   <source>dropped</source>
   <translation>descartado</translation>
  </message>
  <message>
   <source>live after {seconds} s</source>
   <translation>visible tras {seconds} s</translation>
  </message>
  <message>
   <source>Describe the world.  Enter applies, Esc leaves</source>
   <translation>Describe el mundo.  Intro aplica, Esc sale</translation>
  </message>
  <message>
   <source>Prompt</source>
   <translation>Prompt</translation>
  </message>
  <message>
   <source>Prompt status</source>
   <translation>Estado del prompt</translation>
  </message>
  <message>
   <source>What the model understood</source>
   <translation>Lo que entendió el modelo</translation>
  </message>
  <message>
   <source>Keep this prompt as a favourite</source>
   <translation>Guardar este prompt como favorito</translation>
  </message>
  <message>
   <source>Favourite</source>
   <translation>Favorito</translation>
  </message>
  <message>
   <source>Transition: </source>
   <translation>Transición: </translation>
  </message>
  <message>
   <source>Transition: none</source>
   <translation>Transición: ninguna</translation>
  </message>
  <message>
   <source>How long the change to the next prompt takes. A longer one is made of several calls, and is gentler.</source>
   <translation>Cuánto dura el cambio al próximo prompt. Uno más largo se hace en varias llamadas y es más suave.</translation>
  </message>
  <message>
   <source>Length of the transition</source>
   <translation>Duración de la transición</translation>
  </message>
  <message>
   <source>Preset and favourite prompts</source>
   <translation>Prompts propuestos y favoritos</translation>
  </message>
  <message>
   <source>Presets</source>
   <translation>Propuestos</translation>
  </message>
  <message>
   <source>not applied yet</source>
   <translation>aún no aplicado</translation>
  </message>
  <message>
   <source>Enter a prompt</source>
   <translation>Escribe un prompt</translation>
  </message>
  <message>
   <source>too long: at most {n} characters</source>
   <translation>demasiado largo: {n} caracteres como máximo</translation>
  </message>
  <message>
   <source>A score says prompts by itself, each at its time. Add a line to begin.</source>
   <translation>Una partitura dice prompts por sí sola, cada uno a su hora. Añade una línea para empezar.</translation>
  </message>
  <message>
   <source>Score status</source>
   <translation>Estado de la partitura</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>Parar</translation>
  </message>
  <message>
   <source>Open a score</source>
   <translation>Abrir una partitura</translation>
  </message>
  <message>
   <source>Scores (*.json)</source>
   <translation>Partituras (*.json)</translation>
  </message>
  <message>
   <source>Save the score</source>
   <translation>Guardar la partitura</translation>
  </message>
  <message>
   <source>at, s</source>
   <translation>a los, s</translation>
  </message>
  <message>
   <source>prompt</source>
   <translation>prompt</translation>
  </message>
  <message>
   <source>transition, s</source>
   <translation>transición, s</translation>
  </message>
  <message>
   <source>Add line</source>
   <translation>Añadir línea</translation>
  </message>
  <message>
   <source>Remove line</source>
   <translation>Quitar línea</translation>
  </message>
  <message>
   <source>Open ...</source>
   <translation>Abrir ...</translation>
  </message>
  <message>
   <source>Save ...</source>
   <translation>Guardar ...</translation>
  </message>
  <message>
   <source>finished</source>
   <translation>terminado</translation>
  </message>
  <message>
   <source>next in {seconds} s</source>
   <translation>la próxima en {seconds} s</translation>
  </message>
  <message>
   <source>{file}: {n} lines</source>
   <translation>{file}: {n} líneas</translation>
  </message>
  <message>
   <source>there is no line yet: add one</source>
   <translation>Aún no hay línea: añade una</translation>
  </message>
  <message>
   <source>{error}; the lines here are as they were</source>
   <translation>{error}; las líneas siguen como estaban</translation>
  </message>
  <message>
   <source>{error}; nothing was saved</source>
   <translation>{error}; no se guardó nada</translation>
  </message>
  <message>
   <source>Chunk length K</source>
   <translation>Longitud de bloque K</translation>
  </message>
  <message>
   <source>K: latents that a call samples together. A longer chunk fills the cache further ahead and costs less for each picture; a call then takes longer, and so does your key where it has to wait for one.</source>
   <translation>K: latentes que una llamada calcula juntos. Un bloque más largo llena la caché más adelante y cuesta menos por imagen; una llamada dura entonces más, y también tu tecla cuando tiene que esperar a una.</translation>
  </message>
  <message>
   <source>Denoising steps</source>
   <translation>Pasos de eliminación de ruido</translation>
  </message>
  <message>
   <source>Denoising steps of a call. More steps: better pictures, and a call takes longer in proportion.</source>
   <translation>Pasos de eliminación de ruido de una llamada. Más pasos: mejores imágenes, y la llamada dura más en proporción.</translation>
  </message>
  <message>
   <source>Seed</source>
   <translation>Semilla</translation>
  </message>
  <message>
   <source>Chooses the noise of the next new world. The same prompt and seed begin at the same place; it costs nothing.</source>
   <translation>Elige el ruido del próximo mundo nuevo. El mismo prompt y la misma semilla empiezan en el mismo lugar; no cuesta nada.</translation>
  </message>
  <message>
   <source>Commitment</source>
   <translation>Compromiso</translation>
  </message>
  <message>
   <source>speculative: a change revokes the predictions that can still be replaced. Short latency, some sampling for nothing.
chunk: it waits for the chunk's end, as other engines do. No sampling for nothing, long latency.</source>
   <translation>especulativo: un cambio revoca las predicciones que aún se pueden sustituir. Latencia corta, algo de cálculo en balde.
bloque: espera al final del bloque, como otros motores. Nada en balde, latencia larga.</translation>
  </message>
  <message>
   <source>Short answers</source>
   <translation>Respuestas cortas</translation>
  </message>
  <message>
   <source>A key or prompt is answered by a shorter call, and a call of the full K follows. Quicker; the first pictures of an answer are sampled with few others, which can make them weaker.</source>
   <translation>Una llamada más corta responde a una tecla o a un prompt, y sigue una con la K completa. Más rápido; las primeras imágenes de una respuesta se calculan con pocas otras y pueden ser peores.</translation>
  </message>
  <message>
   <source>Answer within</source>
   <translation>Responder en menos de</translation>
  </message>
  <message>
   <source>The longest answer that is seen within this time is taken. At the left end: the shortest answer.</source>
   <translation>Se toma la respuesta más larga que se ve en este tiempo. A la izquierda del todo: la más corta.</translation>
  </message>
  <message>
   <source>Stop outdated calls</source>
   <translation>Detener llamadas superadas</translation>
  </message>
  <message>
   <source>A call that a newer key or prompt makes worthless ends at its next denoising step, and a new one begins. Quicker where calls are long; at most two in a row are stopped.</source>
   <translation>Una llamada que una tecla o un prompt más reciente deja sin valor termina en su siguiente paso de eliminación de ruido, y empieza otra. Más rápido donde las llamadas son largas; se detienen dos seguidas como mucho.</translation>
  </message>
  <message>
   <source>History policy</source>
   <translation>Uso del historial</translation>
  </message>
  <message>
   <source>How what was played conditions the next call. A policy that runs it again costs time and forgets an old prompt sooner; the session log names it.</source>
   <translation>Cómo condiciona lo reproducido la próxima llamada. Calcularlo otra vez lleva tiempo y olvida antes un prompt viejo; el registro lo nombra.</translation>
  </message>
  <message>
   <source>About this model</source>
   <translation>Acerca de este modelo</translation>
  </message>
  <message>
   <source>the model's own; Enter applies</source>
   <translation>el del modelo; Intro aplica</translation>
  </message>
  <message>
   <source>Negative prompt</source>
   <translation>Prompt negativo</translation>
  </message>
  <message>
   <source>What not to show. A call costs twice as much with it, as the model runs with and without.</source>
   <translation>Lo que no debe verse. Una llamada cuesta el doble, pues el modelo corre con él y sin él.</translation>
  </message>
  <message>
   <source>Resume</source>
   <translation>Seguir</translation>
  </message>
  <message>
   <source>{seconds} s</source>
   <translation>{seconds} s</translation>
  </message>
  <message>
   <source>the shortest answer</source>
   <translation>la respuesta más corta</translation>
  </message>
  <message>
   <source>Steps</source>
   <translation>Pasos</translation>
  </message>
  <message>
   <source>History</source>
   <translation>Historial</translation>
  </message>
  <message>
   <source>now K = {k}, seen after some {seconds} s</source>
   <translation>ahora K = {k}, se ve tras unos {seconds} s</translation>
  </message>
  <message>
   <source>{seconds} s per chunk.</source>
   <translation>{seconds} s por bloque.</translation>
  </message>
  <message>
   <source>Panels</source>
   <translation>Paneles</translation>
  </message>
  <message>
   <source>Go on where you were</source>
   <translation>Seguir donde estabas</translation>
  </message>
  <message>
   <source>Delete the world “{name}”? This cannot be undone.</source>
   <translation>¿Borrar el mundo «{name}»? No se puede deshacer.</translation>
  </message>
  <message>
   <source>Name of the world</source>
   <translation>Nombre del mundo</translation>
  </message>
  <message>
   <source>&amp;Open a world file ...</source>
   <translation>&amp;Abrir un archivo de mundo ...</translation>
  </message>
  <message>
   <source>Where to?</source>
   <translation>¿Adónde?</translation>
  </message>
  <message>
   <source>Back to the world (Esc)</source>
   <translation>Volver al mundo (Esc)</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>Cerrar</translation>
  </message>
  <message>
   <source>Worlds</source>
   <translation>Mundos</translation>
  </message>
  <message>
   <source>Worlds, models, sessions</source>
   <translation>Mundos, modelos, sesiones</translation>
  </message>
  <message>
   <source>Loading</source>
   <translation>Cargando</translation>
  </message>
  <message>
   <source>Show at the &amp;start</source>
   <translation>Mostrar al &amp;iniciar</translation>
  </message>
  <message>
   <source>&amp;Enter</source>
   <translation>&amp;Entrar</translation>
  </message>
  <message>
   <source>Ready</source>
   <translation>Listo</translation>
  </message>
  <message>
   <source>Recent sessions</source>
   <translation>Sesiones recientes</translation>
  </message>
  <message>
   <source>&amp;Worlds</source>
   <translation>&amp;Mundos</translation>
  </message>
  <message>
   <source>&amp;Models</source>
   <translation>M&amp;odelos</translation>
  </message>
  <message>
   <source>&amp;Recent</source>
   <translation>&amp;Recientes</translation>
  </message>
  <message>
   <source>{prompt} (seed {seed}, {model})</source>
   <translation>{prompt} (semilla {seed}, {model})</translation>
  </message>
  <message>
   <source>You changed the prompt.</source>
   <translation>Cambiaste el prompt.</translation>
  </message>
  <message>
   <source>You pressed or released a key.</source>
   <translation>Pulsaste o soltaste una tecla.</translation>
  </message>
  <message>
   <source>Groups right of the line are sampled already. The outlined ones will play whatever you do; the others can be replaced.</source>
   <translation>Los grupos a la derecha de la línea ya están calculados. Los enmarcados se reproducirán hagas lo que hagas; los otros se pueden sustituir.</translation>
  </message>
  <message>
   <source>The change is on the screen after {L} s: {R} s until its call began, {C} s of sampling, {Q} s until what was locked before it had played.</source>
   <translation>El cambio se ve tras {L} s: {R} s hasta que empezó su llamada, {C} s de cálculo, {Q} s hasta que se reprodujo lo que estaba fijo antes.</translation>
  </message>
  <message>
   <source>The first changed group is there. It plays as soon as the groups before it have played.</source>
   <translation>El primer grupo cambiado está ahí. Se reproduce en cuanto lo hagan los anteriores.</translation>
  </message>
  <message>
   <source>A call samples {n} groups under the new condition: step {step} of {steps}. Locked groups play meanwhile.</source>
   <translation>Una llamada calcula {n} grupos con la nueva condición: paso {step} de {steps}. Mientras, se reproducen los grupos fijos.</translation>
  </message>
  <message>
   <source>Its call begins as soon as the sampler is free.</source>
   <translation>Su llamada empieza en cuanto el calculador esté libre.</translation>
  </message>
  <message>
   <source>{n} groups that were sampled under the old condition are revoked.</source>
   <translation>{n} grupos calculados con la condición anterior quedan revocados.</translation>
  </message>
  <message>
   <source>take {n}</source>
   <translation>toma {n}</translation>
  </message>
  <message>
   <source>(current)</source>
   <translation>(actual)</translation>
  </message>
  <message>
   <source>Preview of the chosen instant</source>
   <translation>Vista del momento elegido</translation>
  </message>
  <message>
   <source>Instant of the take</source>
   <translation>Momento de la toma</translation>
  </message>
  <message>
   <source>Go on from here</source>
   <translation>Seguir desde aquí</translation>
  </message>
  <message>
   <source>Branch: the world goes on from the chosen group, another way</source>
   <translation>Bifurcar: el mundo sigue de otro modo desde el grupo elegido</translation>
  </message>
  <message>
   <source>Compare with current take</source>
   <translation>Comparar con la toma actual</translation>
  </message>
  <message>
   <source>Both, from where they part</source>
   <translation>Ambas, desde donde se separan</translation>
  </message>
  <message>
   <source>What if</source>
   <translation>Y si</translation>
  </message>
  <message>
   <source>The suffix that was revoked last, beside what came instead</source>
   <translation>Lo último revocado, junto a lo que vino en su lugar</translation>
  </message>
  <message>
   <source>Minutes to export</source>
   <translation>Minutos que exportar</translation>
  </message>
  <message>
   <source>Export last minutes</source>
   <translation>Exportar los últimos minutos</translation>
  </message>
  <message>
   <source>An mp4 of what was played, made from the kept latents</source>
   <translation>Un mp4 de lo reproducido, hecho de los latentes guardados</translation>
  </message>
  <message>
   <source>Clip</source>
   <translation>Recorte</translation>
  </message>
  <message>
   <source>A looping WebP of the {n:g} s before the chosen instant</source>
   <translation>Un WebP en bucle de los {n:g} s antes del momento elegido</translation>
  </message>
  <message>
   <source>Two takes</source>
   <translation>Dos tomas</translation>
  </message>
  <message>
   <source>played instead</source>
   <translation>reproducido en su lugar</translation>
  </message>
  <message>
   <source>{reason}; nothing was written</source>
   <translation>{reason}; no se escribió nada</translation>
  </message>
  <message>
   <source>group {n}, {seconds} s: {prompt}</source>
   <translation>grupo {n}, {seconds} s: {prompt}</translation>
  </message>
  <message>
   <source>choose another take than the current one to see both</source>
   <translation>elige otra toma que la actual para ver las dos</translation>
  </message>
  <message>
   <source>nothing was revoked yet: press a key or change the prompt while the cache is deep</source>
   <translation>aún no se ha revocado nada: pulsa una tecla o cambia el prompt mientras la caché es honda</translation>
  </message>
  <message>
   <source>Timeline</source>
   <translation>Línea de tiempo</translation>
  </message>
  <message>
   <source>Drag the beginning of a prompt, or the end of its slope to make the transition longer</source>
   <translation>Arrastra el comienzo de un prompt, o el final de su pendiente para alargar la transición</translation>
  </message>
  <message>
   <source>World</source>
   <translation>Mundo</translation>
  </message>
  <message>
   <source>The world as the camera sees it. Keys move the camera; Enter goes to the prompt box.</source>
   <translation>El mundo como lo ve la cámara. Las teclas mueven la cámara; Intro lleva al prompt.</translation>
  </message>
  <message>
   <source>volume {share}</source>
   <translation>volumen {share}</translation>
  </message>
  <message>
   <source>reading {name}: {share:.0%} (Esc stops it)</source>
   <translation>leyendo {name}: {share:.0%} (Esc lo para)</translation>
  </message>
  <message>
   <source>the world could not be saved: {error}</source>
   <translation>No se pudo guardar el mundo: {error}</translation>
  </message>
  <message>
   <source>{error}; the world goes on as before</source>
   <translation>{error}; el mundo sigue como antes</translation>
  </message>
  <message>
   <source>&amp;World</source>
   <translation>&amp;Mundo</translation>
  </message>
  <message>
   <source>&amp;View</source>
   <translation>&amp;Ver</translation>
  </message>
  <message>
   <source>&amp;Sound</source>
   <translation>&amp;Sonido</translation>
  </message>
  <message>
   <source>&amp;Keys</source>
   <translation>&amp;Teclas</translation>
  </message>
  <message>
   <source>&amp;Help</source>
   <translation>A&amp;yuda</translation>
  </message>
  <message>
   <source>S&amp;tart screen</source>
   <translation>Pan&amp;talla de inicio</translation>
  </message>
  <message>
   <source>worlds, models and past sessions to enter</source>
   <translation>mundos, modelos y sesiones pasadas en los que entrar</translation>
  </message>
  <message>
   <source>&amp;Prompt</source>
   <translation>&amp;Prompt</translation>
  </message>
  <message>
   <source>go to the prompt box; Enter does it too</source>
   <translation>ir al prompt; Intro también lo hace</translation>
  </message>
  <message>
   <source>P&amp;ause or resume</source>
   <translation>P&amp;ausa o seguir</translation>
  </message>
  <message>
   <source>pause or resume; held keys are released</source>
   <translation>pausa o sigue; las teclas mantenidas se sueltan</translation>
  </message>
  <message>
   <source>&amp;New world</source>
   <translation>&amp;Nuevo mundo</translation>
  </message>
  <message>
   <source>a new world with this prompt and the panel's seed</source>
   <translation>un mundo nuevo con este prompt y la semilla de los ajustes</translation>
  </message>
  <message>
   <source>&amp;Save this world</source>
   <translation>&amp;Guardar este mundo</translation>
  </message>
  <message>
   <source>save prompt, seed, model and start image</source>
   <translation>guarda prompt, semilla, modelo e imagen inicial</translation>
  </message>
  <message>
   <source>S&amp;hare this world ...</source>
   <translation>C&amp;ompartir este mundo ...</translation>
  </message>
  <message>
   <source>save this world as one file to send; it opens on the start screen or when it is dropped here</source>
   <translation>guardar este mundo en un solo archivo para enviarlo; se abre en la pantalla de inicio o al soltarlo aquí</translation>
  </message>
  <message>
   <source>Start from an &amp;image or video ...</source>
   <translation>Empezar con una &amp;imagen o un vídeo ...</translation>
  </message>
  <message>
   <source>a new world from an image or video</source>
   <translation>un mundo nuevo a partir de una imagen o un vídeo</translation>
  </message>
  <message>
   <source>Clear start ima&amp;ge</source>
   <translation>Sin imagen inicia&amp;l</translation>
  </message>
  <message>
   <source>a new world without a start image</source>
   <translation>un mundo nuevo sin imagen inicial</translation>
  </message>
  <message>
   <source>&amp;Models ...</source>
   <translation>&amp;Modelos ...</translation>
  </message>
  <message>
   <source>open or download another model</source>
   <translation>abrir o descargar otro modelo</translation>
  </message>
  <message>
   <source>Go &amp;back two groups</source>
   <translation>&amp;Volver dos grupos</translation>
  </message>
  <message>
   <source>go on from two groups before, another way</source>
   <translation>seguir de otro modo desde dos grupos antes</translation>
  </message>
  <message>
   <source>&amp;Record video</source>
   <translation>G&amp;rabar vídeo</translation>
  </message>
  <message>
   <source>start or end a video of what is shown</source>
   <translation>empieza o termina un vídeo de lo que se ve</translation>
  </message>
  <message>
   <source>Videos include the o&amp;verlay</source>
   <translation>Los vídeos llevan la s&amp;uperposición</translation>
  </message>
  <message>
   <source>&amp;Export last minutes</source>
   <translation>&amp;Exportar los últimos minutos</translation>
  </message>
  <message>
   <source>a video of the last minutes, as many as the takes panel says</source>
   <translation>un vídeo de los últimos minutos, tantos como diga el panel de tomas</translation>
  </message>
  <message>
   <source>Virt&amp;ual camera</source>
   <translation>Cámara virtual (&amp;j)</translation>
  </message>
  <message>
   <source>the world as a camera for calls and streams</source>
   <translation>el mundo como cámara para llamadas y emisiones</translation>
  </message>
  <message>
   <source>S&amp;creenshot</source>
   <translation>&amp;Captura</translation>
  </message>
  <message>
   <source>save what is shown as a PNG</source>
   <translation>guarda lo que se ve como PNG</translation>
  </message>
  <message>
   <source>&amp;Quit</source>
   <translation>&amp;Salir</translation>
  </message>
  <message>
   <source>Speculation &amp;overlay</source>
   <translation>Superposición especulativa (&amp;o)</translation>
  </message>
  <message>
   <source>show or hide the speculation overlay</source>
   <translation>mostrar u ocultar la superposición especulativa</translation>
  </message>
  <message>
   <source>Full o&amp;verlay</source>
   <translation>Superposición comple&amp;ta</translation>
  </message>
  <message>
   <source>every figure of the overlay, or the three that matter most</source>
   <translation>todas las cifras de la superposición, o las tres que más importan</translation>
  </message>
  <message>
   <source>E&amp;xplain the last change</source>
   <translation>E&amp;xplicar el último cambio</translation>
  </message>
  <message>
   <source>what the overlay showed after your last key or prompt, slowly and in words</source>
   <translation>lo que mostró la superposición tras tu última tecla o prompt, despacio y con palabras</translation>
  </message>
  <message>
   <source>Save the overlay as a &amp;picture</source>
   <translation>Guardar la superposición como &amp;imagen</translation>
  </message>
  <message>
   <source>the overlay of this instant as SVG and PNG, for a talk</source>
   <translation>la superposición de este momento en SVG y PNG, para una charla</translation>
  </message>
  <message>
   <source>Switch &amp;commitment</source>
   <translation>Cambiar el compro&amp;miso</translation>
  </message>
  <message>
   <source>switch between speculative and chunk commitment</source>
   <translation>cambiar entre compromiso especulativo y por bloque</translation>
  </message>
  <message>
   <source>&amp;Smooth scaling</source>
   <translation>&amp;Escalado suave</translation>
  </message>
  <message>
   <source>smooth or sharp scaling</source>
   <translation>escalado suave o nítido</translation>
  </message>
  <message>
   <source>&amp;Full screen</source>
   <translation>&amp;Pantalla completa</translation>
  </message>
  <message>
   <source>the picture alone on the whole screen; Esc comes back</source>
   <translation>la imagen sola en toda la pantalla; Esc vuelve</translation>
  </message>
  <message>
   <source>S&amp;ettings</source>
   <translation>&amp;Ajustes</translation>
  </message>
  <message>
   <source>show or hide the settings</source>
   <translation>mostrar u ocultar los ajustes</translation>
  </message>
  <message>
   <source>&amp;Takes</source>
   <translation>Toma&amp;s</translation>
  </message>
  <message>
   <source>show or hide the takes</source>
   <translation>mostrar u ocultar las tomas</translation>
  </message>
  <message>
   <source>Li&amp;brary</source>
   <translation>&amp;Colección</translation>
  </message>
  <message>
   <source>show or hide recordings and pictures</source>
   <translation>mostrar u ocultar grabaciones e imágenes</translation>
  </message>
  <message>
   <source>&amp;Metrics</source>
   <translation>Medi&amp;das</translation>
  </message>
  <message>
   <source>show or hide the metrics</source>
   <translation>mostrar u ocultar las medidas</translation>
  </message>
  <message>
   <source>Sco&amp;re</source>
   <translation>Pa&amp;rtitura</translation>
  </message>
  <message>
   <source>show or hide the score</source>
   <translation>mostrar u ocultar la partitura</translation>
  </message>
  <message>
   <source>&amp;Larger text</source>
   <translation>Texto más &amp;grande</translation>
  </message>
  <message>
   <source>Sm&amp;aller text</source>
   <translation>Texto más pe&amp;queño</translation>
  </message>
  <message>
   <source>Reduce mot&amp;ion</source>
   <translation>Reducir movimie&amp;nto</translation>
  </message>
  <message>
   <source>nothing moves by itself but the world</source>
   <translation>nada se mueve por sí solo salvo el mundo</translation>
  </message>
  <message>
   <source>&amp;Normal text</source>
   <translation>Texto norma&amp;l</translation>
  </message>
  <message>
   <source>&amp;Mute</source>
   <translation>&amp;Silenciar</translation>
  </message>
  <message>
   <source>mute, and back</source>
   <translation>silenciar, y volver</translation>
  </message>
  <message>
   <source>&amp;Louder</source>
   <translation>Más &amp;alto</translation>
  </message>
  <message>
   <source>&amp;Quieter</source>
   <translation>Más &amp;bajo</translation>
  </message>
  <message>
   <source>&amp;Edit ...</source>
   <translation>&amp;Editar ...</translation>
  </message>
  <message>
   <source>&amp;Gamepad</source>
   <translation>&amp;Mando</translation>
  </message>
  <message>
   <source>G&amp;lobal keys (while other windows are used)</source>
   <translation>Teclas &amp;globales (en otras ventanas)</translation>
  </message>
  <message>
   <source>What the &amp;overlay shows</source>
   <translation>Lo que muestra la &amp;superposición</translation>
  </message>
  <message>
   <source>explain the overlay</source>
   <translation>explicar la superposición</translation>
  </message>
  <message>
   <source>Open &amp;log</source>
   <translation>Abrir el &amp;registro</translation>
  </message>
  <message>
   <source>what the program noted, with the details of errors</source>
   <translation>lo que el programa anotó, con los detalles de los errores</translation>
  </message>
  <message>
   <source>&amp;About Foreland</source>
   <translation>&amp;Acerca de Foreland</translation>
  </message>
  <message>
   <source>WASD and arrows</source>
   <translation>WASD y flechas</translation>
  </message>
  <message>
   <source>ZQSD and arrows</source>
   <translation>ZQSD y flechas</translation>
  </message>
  <message>
   <source>Arrows only</source>
   <translation>Solo flechas</translation>
  </message>
  <message>
   <source>Left-handed (IJKL)</source>
   <translation>Para zurdos (IJKL)</translation>
  </message>
  <message>
   <source>my keys</source>
   <translation>mis teclas</translation>
  </message>
 </context>
</TS>
