<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
 <context>
  <name>Foreland</name>
  <message>
   <source>the sound device went away; the world plays on in silence until there is one again</source>
   <translation>音频设备不见了；世界会无声继续，直到再有设备</translation>
  </message>
  <message>
   <source>sound is back</source>
   <translation>声音恢复了</translation>
  </message>
  <message>
   <source>no sound device can be used ({error}); the world plays on in silence</source>
   <translation>没有可用的音频设备（{error}）；世界无声继续</translation>
  </message>
  <message>
   <source>gamepad</source>
   <translation>手柄</translation>
  </message>
  <message>
   <source>gamepads need the package pygame-ce: pip install 'foreland[gamepad]'</source>
   <translation>手柄需要 pygame-ce 包：pip install 'foreland[gamepad]'</translation>
  </message>
  <message>
   <source>gamepads cannot be read here: {error}</source>
   <translation>此处无法读取手柄：{error}</translation>
  </message>
  <message>
   <source>global keys</source>
   <translation>全局按键</translation>
  </message>
  <message>
   <source>Wayland lets no program see keys of other windows: start an X11 session, or use the window's own keys</source>
   <translation>Wayland 不让程序看到其他窗口的按键：请使用 X11 会话，或使用本窗口的按键</translation>
  </message>
  <message>
   <source>there is no X display here</source>
   <translation>此处没有 X 显示</translation>
  </message>
  <message>
   <source>macOS forbids it until Foreland is allowed under {where}</source>
   <translation>在 {where} 中允许 Foreland 之前，macOS 会禁止</translation>
  </message>
  <message>
   <source>global keys need the package pynput ({error}): pip install 'foreland[keys]'</source>
   <translation>全局按键需要 pynput 包（{error}）：pip install 'foreland[keys]'</translation>
  </message>
  <message>
   <source>forward</source>
   <translation>前进</translation>
  </message>
  <message>
   <source>back</source>
   <translation>后退</translation>
  </message>
  <message>
   <source>left</source>
   <translation>向左</translation>
  </message>
  <message>
   <source>right</source>
   <translation>向右</translation>
  </message>
  <message>
   <source>turn left</source>
   <translation>左转</translation>
  </message>
  <message>
   <source>turn right</source>
   <translation>右转</translation>
  </message>
  <message>
   <source>look up</source>
   <translation>向上看</translation>
  </message>
  <message>
   <source>look down</source>
   <translation>向下看</translation>
  </message>
  <message>
   <source>rise</source>
   <translation>上升</translation>
  </message>
  <message>
   <source>sink</source>
   <translation>下降</translation>
  </message>
  <message>
   <source>global keys on</source>
   <translation>全局按键已开</translation>
  </message>
  <message>
   <source>global keys: {reason}</source>
   <translation>全局按键：{reason}</translation>
  </message>
  <message>
   <source>mouse</source>
   <translation>鼠标</translation>
  </message>
  <message>
   <source>; {n} frames are missing in it: the encoder was too slow for this machine</source>
   <translation>；缺少 {n} 帧：编码器对这台机器太慢</translation>
  </message>
  <message>
   <source>recorded {file}</source>
   <translation>已录制：{file}</translation>
  </message>
  <message>
   <source>no virtual camera can be opened here: {error}</source>
   <translation>此处无法打开虚拟摄像头：{error}</translation>
  </message>
  <message>
   <source>a virtual camera needs the package pyvirtualcam: pip install 'foreland[camera]'</source>
   <translation>虚拟摄像头需要 pyvirtualcam 包：pip install 'foreland[camera]'</translation>
  </message>
  <message>
   <source>saved {file}</source>
   <translation>已保存：{file}</translation>
  </message>
  <message>
   <source>the screenshot could not be written to {file}</source>
   <translation>截图无法写入 {file}</translation>
  </message>
  <message>
   <source>Other programs see this world as the camera {name}</source>
   <translation>其他程序会把这个世界看作摄像头 {name}</translation>
  </message>
  <message>
   <source>The overlay could not be saved: {error}</source>
   <translation>叠加层无法保存：{error}</translation>
  </message>
  <message>
   <source>{error}; nothing is recorded</source>
   <translation>{error}；没有录制任何内容</translation>
  </message>
  <message>
   <source>as the system</source>
   <translation>跟随系统</translation>
  </message>
  <message>
   <source>dark</source>
   <translation>深色</translation>
  </message>
  <message>
   <source>light</source>
   <translation>浅色</translation>
  </message>
  <message>
   <source>T&amp;heme</source>
   <translation>主题(&amp;H)</translation>
  </message>
  <message>
   <source>Lan&amp;guage</source>
   <translation>语言(&amp;G)</translation>
  </message>
  <message>
   <source>&amp;Device</source>
   <translation>设备(&amp;D)</translation>
  </message>
  <message>
   <source>&amp;Layout</source>
   <translation>布局(&amp;L)</translation>
  </message>
  <message>
   <source>Mouse s&amp;ensitivity</source>
   <translation>鼠标灵敏度(&amp;E)</translation>
  </message>
  <message>
   <source>The language changes at the next start.</source>
   <translation>语言将在下次启动时更改。</translation>
  </message>
  <message>
   <source>system default</source>
   <translation>系统默认</translation>
  </message>
  <message>
   <source>Time</source>
   <translation>时间</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>暂停</translation>
  </message>
  <message>
   <source>decoding ...</source>
   <translation>解码中 ...</translation>
  </message>
  <message>
   <source>Play</source>
   <translation>播放</translation>
  </message>
  <message>
   <source>Walk</source>
   <translation>行走</translation>
  </message>
  <message>
   <source>Hold {move} to walk and {turn} to turn. The picture follows after a moment: it is sampled as you go.</source>
   <translation>按住 {move} 行走，{turn} 转向。画面稍后跟上：它是边走边生成的。</translation>
  </message>
  <message>
   <source>Say</source>
   <translation>说</translation>
  </message>
  <message>
   <source>Press Enter, describe another place, time or weather, and press Enter again. You need not stop walking.</source>
   <translation>按回车，描述另一个地方、时间或天气，再按回车。不必停下脚步。</translation>
  </message>
  <message>
   <source>See the future</source>
   <translation>看见未来</translation>
  </message>
  <message>
   <source>Press {key}: the boxes right of the line are pictures that are sampled already. A key or a prompt revokes those that can still be replaced.</source>
   <translation>按 {key}：线右边的方块是已经生成的画面。按键或提示词会撤销其中还能替换的部分。</translation>
  </message>
  <message>
   <source>First steps</source>
   <translation>最初几步</translation>
  </message>
  <message>
   <source>Skip</source>
   <translation>跳过</translation>
  </message>
  <message>
   <source>Skip the first steps</source>
   <translation>跳过最初几步</translation>
  </message>
  <message>
   <source>the model is not loaded yet</source>
   <translation>模型尚未加载</translation>
  </message>
  <message>
   <source>nothing of that is kept any more</source>
   <translation>这部分已不再保留</translation>
  </message>
  <message>
   <source>it could not be made: {error}</source>
   <translation>无法制作：{error}</translation>
  </message>
  <message>
   <source>the window was closed before it was complete</source>
   <translation>窗口在完成之前被关闭</translation>
  </message>
  <message>
   <source>What the overlay shows</source>
   <translation>叠加层显示什么</translation>
  </message>
  <message>
   <source>Keys</source>
   <translation>按键</translation>
  </message>
  <message>
   <source>Log: {file}</source>
   <translation>日志：{file}</translation>
  </message>
  <message>
   <source>About Foreland</source>
   <translation>关于 Foreland</translation>
  </message>
  <message>
   <source>Start from an image or video</source>
   <translation>从图片或视频开始</translation>
  </message>
  <message>
   <source>Images and videos ({kinds})</source>
   <translation>图片和视频 ({kinds})</translation>
  </message>
  <message>
   <source>Share this world</source>
   <translation>分享这个世界</translation>
  </message>
  <message>
   <source>Nothing to explain yet: hold a key or change the prompt, and wait until it is seen</source>
   <translation>还没有可解释的：按住一个键或更改提示词，等它出现在画面上</translation>
  </message>
  <message>
   <source>asking the hub</source>
   <translation>正在询问 Hub</translation>
  </message>
  <message>
   <source>size and licence</source>
   <translation>大小与许可证</translation>
  </message>
  <message>
   <source>{name}: {done} of {total}</source>
   <translation>{name}：{done} / {total}</translation>
  </message>
  <message>
   <source>complete</source>
   <translation>完成</translation>
  </message>
  <message>
   <source>nothing was downloaded</source>
   <translation>没有下载任何内容</translation>
  </message>
  <message>
   <source>stopped</source>
   <translation>已停止</translation>
  </message>
  <message>
   <source>checking</source>
   <translation>检查中</translation>
  </message>
  <message>
   <source>the picture could not be written to {folder}: {reason}</source>
   <translation>图片无法写入 {folder}：{reason}</translation>
  </message>
  <message>
   <source>a world starts from a picture or a film of this machine: save it first, or copy the picture itself</source>
   <translation>世界要从这台机器上的图片或影片开始：请先保存，或复制图片本身</translation>
  </message>
  <message>
   <source>{name} is not a picture or film of a known kind: {kinds}</source>
   <translation>{name} 不是已知类型的图片或影片：{kinds}</translation>
  </message>
  <message>
   <source>it is not an image, or the disk is full</source>
   <translation>它不是图片，或磁盘已满</translation>
  </message>
  <message>
   <source>The overlay at this moment</source>
   <translation>此刻的叠加层</translation>
  </message>
  <message>
   <source>What happened after your last change</source>
   <translation>上次更改之后发生了什么</translation>
  </message>
  <message>
   <source>What happens</source>
   <translation>正在发生什么</translation>
  </message>
  <message>
   <source>Moment</source>
   <translation>时刻</translation>
  </message>
  <message>
   <source>Explore worlds that a video diffusion model generates as you move. It implements *Speculative Sampling in Interactive Video Generation* (Huang et al., 2026).</source>
   <translation>探索视频扩散模型随你移动而生成的世界。它实现了 *Speculative Sampling in Interactive Video Generation*（Huang et al., 2026）。</translation>
  </message>
  <message>
   <source>The pocket world is sampled by a small network that this project trained on a world that it renders itself.</source>
   <translation>口袋世界由一个小网络生成，它是本项目用自己绘制的世界训练的。</translation>
  </message>
  <message>
   <source>Models that you download have licences of their own, which are shown before a download.</source>
   <translation>你下载的模型有各自的许可证，下载前会显示。</translation>
  </message>
  <message>
   <source>| package | version | licence |</source>
   <translation>| 包 | 版本 | 许可证 |</translation>
  </message>
  <message>
   <source>Keys &gt; Edit and Keys &gt; Layout change those of the camera.</source>
   <translation>“按键 &gt; 编辑”和“按键 &gt; 布局”可更改摄像机的按键。</translation>
  </message>
  <message>
   <source>from a checkout</source>
   <translation>来自检出</translation>
  </message>
  <message>
   <source>Made with</source>
   <translation>使用了</translation>
  </message>
  <message>
   <source>see its files</source>
   <translation>见其文件</translation>
  </message>
  <message>
   <source>Menus</source>
   <translation>菜单</translation>
  </message>
  <message>
   <source>Paused</source>
   <translation>已暂停</translation>
  </message>
  <message>
   <source>Decoding the next picture</source>
   <translation>正在解码下一个画面</translation>
  </message>
  <message>
   <source>Sampling the next picture: step {step} of {steps}</source>
   <translation>正在生成下一个画面：第 {step} 步，共 {steps} 步</translation>
  </message>
  <message>
   <source>Waiting</source>
   <translation>等待中</translation>
  </message>
  <message>
   <source>move</source>
   <translation>移动</translation>
  </message>
  <message>
   <source>turn and look</source>
   <translation>转向和观看</translation>
  </message>
  <message>
   <source>the right mouse button held and moved</source>
   <translation>按住右键并移动鼠标</translation>
  </message>
  <message>
   <source>rise, sink</source>
   <translation>上升，下降</translation>
  </message>
  <message>
   <source>go to the prompt box; there Enter applies, Esc leaves, Up and Down walk through the history</source>
   <translation>前往提示词框；回车应用，Esc 离开，上下键浏览历史</translation>
  </message>
  <message>
   <source>| keys | do |</source>
   <translation>| 按键 | 作用 |</translation>
  </message>
  <message>
   <source>none</source>
   <translation>无</translation>
  </message>
  <message>
   <source>, or </source>
   <translation>，或 </translation>
  </message>
  <message>
   <source>{key} is “{other}” now. Make it “{action}”?</source>
   <translation>{key} 现在是“{other}”。改为“{action}”吗？</translation>
  </message>
  <message>
   <source>Actions and their keys</source>
   <translation>动作及其按键</translation>
  </message>
  <message>
   <source>Choose an action, then add a key or remove its keys</source>
   <translation>选择一个动作，然后添加或删除按键</translation>
  </message>
  <message>
   <source>Note</source>
   <translation>说明</translation>
  </message>
  <message>
   <source>&amp;Add a key</source>
   <translation>添加按键(&amp;A)</translation>
  </message>
  <message>
   <source>&amp;Remove its keys</source>
   <translation>删除按键(&amp;R)</translation>
  </message>
  <message>
   <source>Press the key for “{action}”; Esc leaves it</source>
   <translation>请按“{action}”的按键；Esc 取消</translation>
  </message>
  <message>
   <source>{key} is “{action}”</source>
   <translation>{key} 是“{action}”</translation>
  </message>
  <message>
   <source>does</source>
   <translation>动作</translation>
  </message>
  <message>
   <source>keys</source>
   <translation>按键</translation>
  </message>
  <message>
   <source>without a key: {actions}</source>
   <translation>没有按键：{actions}</translation>
  </message>
  <message>
   <source>Nothing was changed</source>
   <translation>没有任何更改</translation>
  </message>
  <message>
   <source>This key is the program's own: press another, or Esc</source>
   <translation>此键归程序使用：请按其他键或 Esc</translation>
  </message>
  <message>
   <source>Delete {name}?</source>
   <translation>删除 {name}？</translation>
  </message>
  <message>
   <source>Recordings and pictures</source>
   <translation>录像和图片</translation>
  </message>
  <message>
   <source>Nothing yet. Ctrl+Shift+R records a video, F12 saves a picture.</source>
   <translation>还没有。Ctrl+Shift+R 录像，F12 保存图片。</translation>
  </message>
  <message>
   <source>Open folder</source>
   <translation>打开文件夹</translation>
  </message>
  <message>
   <source>Rename ...</source>
   <translation>重命名 ...</translation>
  </message>
  <message>
   <source>Delete ...</source>
   <translation>删除 ...</translation>
  </message>
  <message>
   <source>Rename</source>
   <translation>重命名</translation>
  </message>
  <message>
   <source>Name of the file</source>
   <translation>文件名</translation>
  </message>
  <message>
   <source>No program is there to open {file}</source>
   <translation>没有程序可以打开 {file}</translation>
  </message>
  <message>
   <source>Delete</source>
   <translation>删除</translation>
  </message>
  <message>
   <source>There is a file of this name already; nothing was changed</source>
   <translation>已有同名文件；没有任何更改</translation>
  </message>
  <message>
   <source>{error}; nothing was changed</source>
   <translation>{error}；没有任何更改</translation>
  </message>
  <message>
   <source>starting</source>
   <translation>启动中</translation>
  </message>
  <message>
   <source>importing torch</source>
   <translation>正在导入 torch</translation>
  </message>
  <message>
   <source>reading the pocket weights</source>
   <translation>正在读取口袋世界的权重</translation>
  </message>
  <message>
   <source>drawing what stands in it</source>
   <translation>正在绘制其中的事物</translation>
  </message>
  <message>
   <source>preparing the pocket world</source>
   <translation>正在准备口袋世界</translation>
  </message>
  <message>
   <source>closing the previous world</source>
   <translation>正在关闭之前的世界</translation>
  </message>
  <message>
   <source>first picture</source>
   <translation>第一个画面</translation>
  </message>
  <message>
   <source>{stage}, step {step} of {steps}</source>
   <translation>{stage}，第 {step} 步，共 {steps} 步</translation>
  </message>
  <message>
   <source>Foreland - {model} world</source>
   <translation>Foreland - {model} 世界</translation>
  </message>
  <message>
   <source>This model has no camera: held keys become words of its prompt</source>
   <translation>此模型没有摄像机：按住的键会变成提示词里的话</translation>
  </message>
  <message>
   <source>there is nothing to save yet</source>
   <translation>还没有可保存的内容</translation>
  </message>
  <message>
   <source>Figures of the session</source>
   <translation>会话数据</translation>
  </message>
  <message>
   <source>cache, s</source>
   <translation>缓存，秒</translation>
  </message>
  <message>
   <source>L of updates, s</source>
   <translation>更改的 L，秒</translation>
  </message>
  <message>
   <source>C, s</source>
   <translation>C，秒</translation>
  </message>
  <message>
   <source>revoked share</source>
   <translation>撤销比例</translation>
  </message>
  <message>
   <source>Plot of {figure}</source>
   <translation>曲线：{figure}</translation>
  </message>
  <message>
   <source>{width} x {height}, {fps:g} frames a second</source>
   <translation>{width} x {height}，每秒 {fps:g} 帧</translation>
  </message>
  <message>
   <source>fits; download {n:.0f} GB</source>
   <translation>可以运行；需下载 {n:.0f} GB</translation>
  </message>
  <message>
   <source>ready, needs no GPU</source>
   <translation>就绪，无需 GPU</translation>
  </message>
  <message>
   <source>needs a GPU with {n:g} GB</source>
   <translation>需要 {n:g} GB 的 GPU</translation>
  </message>
  <message>
   <source>ready</source>
   <translation>就绪</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>Installed</source>
   <translation>已安装</translation>
  </message>
  <message>
   <source>Download</source>
   <translation>下载</translation>
  </message>
  <message>
   <source>GPU memory</source>
   <translation>GPU 内存</translation>
  </message>
  <message>
   <source>K</source>
   <translation>K</translation>
  </message>
  <message>
   <source>Licence</source>
   <translation>许可证</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>About the model</source>
   <translation>关于模型</translation>
  </message>
  <message>
   <source>&amp;Open</source>
   <translation>打开(&amp;O)</translation>
  </message>
  <message>
   <source>&amp;Download ...</source>
   <translation>下载(&amp;D) ...</translation>
  </message>
  <message>
   <source>&amp;Cancel download</source>
   <translation>取消下载(&amp;C)</translation>
  </message>
  <message>
   <source>Open a &amp;folder ...</source>
   <translation>打开文件夹(&amp;F) ...</translation>
  </message>
  <message>
   <source>Open a f&amp;ile ...</source>
   <translation>打开文件(&amp;I) ...</translation>
  </message>
  <message>
   <source>Folder of a checkpoint</source>
   <translation>检查点文件夹</translation>
  </message>
  <message>
   <source>File of a checkpoint</source>
   <translation>检查点文件</translation>
  </message>
  <message>
   <source>Checkpoints ({kinds})</source>
   <translation>检查点 ({kinds})</translation>
  </message>
  <message>
   <source>Licence: {licence}</source>
   <translation>许可证：{licence}</translation>
  </message>
  <message>
   <source>Do you agree to the licence and download it?</source>
   <translation>同意许可证并下载吗？</translation>
  </message>
  <message>
   <source>Agree and download</source>
   <translation>同意并下载</translation>
  </message>
  <message>
   <source>It does not fit: free some space, then try again.</source>
   <translation>空间不足：请腾出空间再试。</translation>
  </message>
  <message>
   <source>yes</source>
   <translation>是</translation>
  </message>
  <message>
   <source>no</source>
   <translation>否</translation>
  </message>
  <message>
   <source>about {n} GB</source>
   <translation>约 {n} GB</translation>
  </message>
  <message>
   <source>cannot be used</source>
   <translation>无法使用</translation>
  </message>
  <message>
   <source>{free} are free in {folder}.</source>
   <translation>{folder} 中有 {free} 可用空间。</translation>
  </message>
  <message>
   <source>{model} is installed</source>
   <translation>{model} 已安装</translation>
  </message>
  <message>
   <source>steps: {n}</source>
   <translation>步数：{n}</translation>
  </message>
  <message>
   <source>{model}: {total}, of which {there} are here already.</source>
   <translation>{model}：{total}，其中 {there} 已在本机。</translation>
  </message>
  <message>
   <source>Message</source>
   <translation>消息</translation>
  </message>
  <message>
   <source>Dismiss</source>
   <translation>关闭</translation>
  </message>
  <message>
   <source>Messages</source>
   <translation>消息</translation>
  </message>
  <message>
   <source>played</source>
   <translation>已播放</translation>
  </message>
  <message>
   <source>locked: it will play</source>
   <translation>已锁定：一定会播放</translation>
  </message>
  <message>
   <source>cached: a change can revoke it</source>
   <translation>已缓存：更改可撤销它</translation>
  </message>
  <message>
   <source>being sampled</source>
   <translation>生成中</translation>
  </message>
  <message>
   <source>revoked</source>
   <translation>已撤销</translation>
  </message>
  <message>
   <source>a key or prompt, and the first picture it changed</source>
   <translation>按键或提示词，以及它改变的第一个画面</translation>
  </message>
  <message>
   <source>produce</source>
   <translation>生成</translation>
  </message>
  <message>
   <source>consume</source>
   <translation>消费</translation>
  </message>
  <message>
   <source>closed</source>
   <translation>已关闭</translation>
  </message>
  <message>
   <source>speculative</source>
   <translation>推测式</translation>
  </message>
  <message>
   <source>chunk</source>
   <translation>分块</translation>
  </message>
  <message>
   <source>loading</source>
   <translation>加载中</translation>
  </message>
  <message>
   <source>cache</source>
   <translation>缓存</translation>
  </message>
  <message>
   <source>{n} groups, {seconds} s</source>
   <translation>{n} 组，{seconds} 秒</translation>
  </message>
  <message>
   <source>state</source>
   <translation>状态</translation>
  </message>
  <message>
   <source>commit</source>
   <translation>提交方式</translation>
  </message>
  <message>
   <source>stalls</source>
   <translation>停顿</translation>
  </message>
  <message>
   <source>latency</source>
   <translation>延迟</translation>
  </message>
  <message>
   <source>of which the line</source>
   <translation>其中线路</translation>
  </message>
  <message>
   <source>(paused)</source>
   <translation>（已暂停）</translation>
  </message>
  <message>
   <source>shared with</source>
   <translation>共享者</translation>
  </message>
  <message>
   <source>answer, step {step}/{steps}</source>
   <translation>应答，步骤 {step}/{steps}</translation>
  </message>
  <message>
   <source>step {step}/{steps}</source>
   <translation>步骤 {step}/{steps}</translation>
  </message>
  <message>
   <source>now</source>
   <translation>现在</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>设置</translation>
  </message>
  <message>
   <source>Takes</source>
   <translation>镜次</translation>
  </message>
  <message>
   <source>Score</source>
   <translation>乐谱</translation>
  </message>
  <message>
   <source>Library</source>
   <translation>媒体库</translation>
  </message>
  <message>
   <source>Metrics</source>
   <translation>指标</translation>
  </message>
  <message>
   <source>received</source>
   <translation>已收到</translation>
  </message>
  <message>
   <source>generating ...</source>
   <translation>生成中 ...</translation>
  </message>
  <message>
   <source>live</source>
   <translation>已生效</translation>
  </message>
  <message>
   <source>superseded</source>
   <translation>已被取代</translation>
  </message>
  <message>
   <source>rejected</source>
   <translation>已拒绝</translation>
  </message>
  <message>
   <source>dropped</source>
   <translation>已丢弃</translation>
  </message>
  <message>
   <source>live after {seconds} s</source>
   <translation>{seconds} 秒后生效</translation>
  </message>
  <message>
   <source>Describe the world.  Enter applies, Esc leaves</source>
   <translation>描述这个世界。  回车应用，Esc 离开</translation>
  </message>
  <message>
   <source>Prompt</source>
   <translation>提示词</translation>
  </message>
  <message>
   <source>Prompt status</source>
   <translation>提示词状态</translation>
  </message>
  <message>
   <source>What the model understood</source>
   <translation>模型理解到的内容</translation>
  </message>
  <message>
   <source>Keep this prompt as a favourite</source>
   <translation>收藏此提示词</translation>
  </message>
  <message>
   <source>Favourite</source>
   <translation>收藏</translation>
  </message>
  <message>
   <source>Transition: </source>
   <translation>过渡：</translation>
  </message>
  <message>
   <source>Transition: none</source>
   <translation>过渡：无</translation>
  </message>
  <message>
   <source>How long the change to the next prompt takes. A longer one is made of several calls, and is gentler.</source>
   <translation>切换到下一个提示词所需的时间。越长就由越多次调用完成，也越柔和。</translation>
  </message>
  <message>
   <source>Length of the transition</source>
   <translation>过渡时长</translation>
  </message>
  <message>
   <source>Preset and favourite prompts</source>
   <translation>预设和收藏的提示词</translation>
  </message>
  <message>
   <source>Presets</source>
   <translation>预设</translation>
  </message>
  <message>
   <source>not applied yet</source>
   <translation>尚未应用</translation>
  </message>
  <message>
   <source>Enter a prompt</source>
   <translation>请输入提示词</translation>
  </message>
  <message>
   <source>too long: at most {n} characters</source>
   <translation>太长：最多 {n} 个字符</translation>
  </message>
  <message>
   <source>A score says prompts by itself, each at its time. Add a line to begin.</source>
   <translation>乐谱会在各自的时间自动说出提示词。添加一行开始。</translation>
  </message>
  <message>
   <source>Score status</source>
   <translation>乐谱状态</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>停止</translation>
  </message>
  <message>
   <source>Open a score</source>
   <translation>打开乐谱</translation>
  </message>
  <message>
   <source>Scores (*.json)</source>
   <translation>乐谱 (*.json)</translation>
  </message>
  <message>
   <source>Save the score</source>
   <translation>保存乐谱</translation>
  </message>
  <message>
   <source>at, s</source>
   <translation>时刻，秒</translation>
  </message>
  <message>
   <source>prompt</source>
   <translation>提示词</translation>
  </message>
  <message>
   <source>transition, s</source>
   <translation>过渡，秒</translation>
  </message>
  <message>
   <source>Add line</source>
   <translation>添加行</translation>
  </message>
  <message>
   <source>Remove line</source>
   <translation>删除行</translation>
  </message>
  <message>
   <source>Open ...</source>
   <translation>打开 ...</translation>
  </message>
  <message>
   <source>Save ...</source>
   <translation>保存 ...</translation>
  </message>
  <message>
   <source>finished</source>
   <translation>已结束</translation>
  </message>
  <message>
   <source>next in {seconds} s</source>
   <translation>{seconds} 秒后下一个</translation>
  </message>
  <message>
   <source>{file}: {n} lines</source>
   <translation>{file}：{n} 行</translation>
  </message>
  <message>
   <source>there is no line yet: add one</source>
   <translation>还没有行：请添加一行</translation>
  </message>
  <message>
   <source>{error}; the lines here are as they were</source>
   <translation>{error}；这里的行保持原样</translation>
  </message>
  <message>
   <source>{error}; nothing was saved</source>
   <translation>{error}；没有保存任何内容</translation>
  </message>
  <message>
   <source>Chunk length K</source>
   <translation>块长 K</translation>
  </message>
  <message>
   <source>K: latents that a call samples together. A longer chunk fills the cache further ahead and costs less for each picture; a call then takes longer, and so does your key where it has to wait for one.</source>
   <translation>K：一次调用一起生成的潜变量数。块越长，缓存填得越远，每个画面的花费越少；但一次调用更久，需要等待它的按键也更久。</translation>
  </message>
  <message>
   <source>Denoising steps</source>
   <translation>去噪步数</translation>
  </message>
  <message>
   <source>Denoising steps of a call. More steps: better pictures, and a call takes longer in proportion.</source>
   <translation>一次调用的去噪步数。步数越多画面越好，调用时间也按比例变长。</translation>
  </message>
  <message>
   <source>Seed</source>
   <translation>种子</translation>
  </message>
  <message>
   <source>Chooses the noise of the next new world. The same prompt and seed begin at the same place; it costs nothing.</source>
   <translation>选择下一个新世界的噪声。相同的提示词和种子从同一个地方开始；没有额外花费。</translation>
  </message>
  <message>
   <source>Commitment</source>
   <translation>提交方式</translation>
  </message>
  <message>
   <source>speculative: a change revokes the predictions that can still be replaced. Short latency, some sampling for nothing.
chunk: it waits for the chunk's end, as other engines do. No sampling for nothing, long latency.</source>
   <translation>推测式：更改会撤销还能替换的预测。延迟短，有些生成会白费。
分块：像其他引擎一样等到块结束。没有白费，延迟长。</translation>
  </message>
  <message>
   <source>Short answers</source>
   <translation>短应答</translation>
  </message>
  <message>
   <source>A key or prompt is answered by a shorter call, and a call of the full K follows. Quicker; the first pictures of an answer are sampled with few others, which can make them weaker.</source>
   <translation>按键或提示词由较短的调用应答，随后是完整 K 的调用。更快；应答的最初几个画面与较少的画面一起生成，可能较差。</translation>
  </message>
  <message>
   <source>Answer within</source>
   <translation>应答时限</translation>
  </message>
  <message>
   <source>The longest answer that is seen within this time is taken. At the left end: the shortest answer.</source>
   <translation>取在此时间内可见的最长应答。最左端：最短的应答。</translation>
  </message>
  <message>
   <source>Stop outdated calls</source>
   <translation>停止过时的调用</translation>
  </message>
  <message>
   <source>A call that a newer key or prompt makes worthless ends at its next denoising step, and a new one begins. Quicker where calls are long; at most two in a row are stopped.</source>
   <translation>被更新的按键或提示词变得无用的调用会在下一个去噪步结束，并开始新的调用。调用较长时更快；最多连续停止两次。</translation>
  </message>
  <message>
   <source>History policy</source>
   <translation>历史策略</translation>
  </message>
  <message>
   <source>How what was played conditions the next call. A policy that runs it again costs time and forgets an old prompt sooner; the session log names it.</source>
   <translation>已播放的内容如何影响下一次调用。重新计算的策略更费时，也更快忘掉旧提示词；会话日志会记录它的名称。</translation>
  </message>
  <message>
   <source>About this model</source>
   <translation>关于此模型</translation>
  </message>
  <message>
   <source>the model's own; Enter applies</source>
   <translation>模型自带的；回车应用</translation>
  </message>
  <message>
   <source>Negative prompt</source>
   <translation>负面提示词</translation>
  </message>
  <message>
   <source>What not to show. A call costs twice as much with it, as the model runs with and without.</source>
   <translation>不想出现的内容。模型要带着它和不带它各运行一次，因此调用花费加倍。</translation>
  </message>
  <message>
   <source>Resume</source>
   <translation>继续</translation>
  </message>
  <message>
   <source>{seconds} s</source>
   <translation>{seconds} 秒</translation>
  </message>
  <message>
   <source>the shortest answer</source>
   <translation>最短的应答</translation>
  </message>
  <message>
   <source>Steps</source>
   <translation>步数</translation>
  </message>
  <message>
   <source>History</source>
   <translation>历史</translation>
  </message>
  <message>
   <source>now K = {k}, seen after some {seconds} s</source>
   <translation>目前 K = {k}，约 {seconds} 秒后可见</translation>
  </message>
  <message>
   <source>{seconds} s per chunk.</source>
   <translation>每块 {seconds} 秒。</translation>
  </message>
  <message>
   <source>Panels</source>
   <translation>面板</translation>
  </message>
  <message>
   <source>Go on where you were</source>
   <translation>从上次的地方继续</translation>
  </message>
  <message>
   <source>Delete the world “{name}”? This cannot be undone.</source>
   <translation>删除世界“{name}”？无法恢复。</translation>
  </message>
  <message>
   <source>Name of the world</source>
   <translation>世界名称</translation>
  </message>
  <message>
   <source>&amp;Open a world file ...</source>
   <translation>打开世界文件(&amp;O) ...</translation>
  </message>
  <message>
   <source>Where to?</source>
   <translation>去哪里？</translation>
  </message>
  <message>
   <source>Back to the world (Esc)</source>
   <translation>返回世界 (Esc)</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>关闭</translation>
  </message>
  <message>
   <source>Worlds</source>
   <translation>世界</translation>
  </message>
  <message>
   <source>Worlds, models, sessions</source>
   <translation>世界、模型、会话</translation>
  </message>
  <message>
   <source>Loading</source>
   <translation>加载中</translation>
  </message>
  <message>
   <source>Show at the &amp;start</source>
   <translation>启动时显示(&amp;S)</translation>
  </message>
  <message>
   <source>&amp;Enter</source>
   <translation>进入(&amp;E)</translation>
  </message>
  <message>
   <source>Ready</source>
   <translation>就绪</translation>
  </message>
  <message>
   <source>Recent sessions</source>
   <translation>最近的会话</translation>
  </message>
  <message>
   <source>&amp;Worlds</source>
   <translation>世界(&amp;W)</translation>
  </message>
  <message>
   <source>&amp;Models</source>
   <translation>模型(&amp;M)</translation>
  </message>
  <message>
   <source>&amp;Recent</source>
   <translation>最近(&amp;R)</translation>
  </message>
  <message>
   <source>{prompt} (seed {seed}, {model})</source>
   <translation>{prompt}（种子 {seed}，{model}）</translation>
  </message>
  <message>
   <source>You changed the prompt.</source>
   <translation>你更改了提示词。</translation>
  </message>
  <message>
   <source>You pressed or released a key.</source>
   <translation>你按下或松开了一个键。</translation>
  </message>
  <message>
   <source>Groups right of the line are sampled already. The outlined ones will play whatever you do; the others can be replaced.</source>
   <translation>线右边的组已经生成。带边框的无论如何都会播放；其余可以替换。</translation>
  </message>
  <message>
   <source>The change is on the screen after {L} s: {R} s until its call began, {C} s of sampling, {Q} s until what was locked before it had played.</source>
   <translation>更改在 {L} 秒后出现：调用开始前 {R} 秒，生成 {C} 秒，等先前锁定的播完 {Q} 秒。</translation>
  </message>
  <message>
   <source>The first changed group is there. It plays as soon as the groups before it have played.</source>
   <translation>第一个改变的组已就绪。前面的组播完后它就会播放。</translation>
  </message>
  <message>
   <source>A call samples {n} groups under the new condition: step {step} of {steps}. Locked groups play meanwhile.</source>
   <translation>正在新条件下生成 {n} 组：第 {step} 步，共 {steps} 步。其间播放已锁定的组。</translation>
  </message>
  <message>
   <source>Its call begins as soon as the sampler is free.</source>
   <translation>采样器一空闲，调用就开始。</translation>
  </message>
  <message>
   <source>{n} groups that were sampled under the old condition are revoked.</source>
   <translation>在旧条件下生成的 {n} 组已撤销。</translation>
  </message>
  <message>
   <source>take {n}</source>
   <translation>镜次 {n}</translation>
  </message>
  <message>
   <source>(current)</source>
   <translation>（当前）</translation>
  </message>
  <message>
   <source>Preview of the chosen instant</source>
   <translation>所选时刻的预览</translation>
  </message>
  <message>
   <source>Instant of the take</source>
   <translation>镜次中的时刻</translation>
  </message>
  <message>
   <source>Go on from here</source>
   <translation>从这里继续</translation>
  </message>
  <message>
   <source>Branch: the world goes on from the chosen group, another way</source>
   <translation>分支：世界从所选的组另走一条路</translation>
  </message>
  <message>
   <source>Compare with current take</source>
   <translation>与当前镜次比较</translation>
  </message>
  <message>
   <source>Both, from where they part</source>
   <translation>从分开处起，两者并列</translation>
  </message>
  <message>
   <source>What if</source>
   <translation>假如</translation>
  </message>
  <message>
   <source>The suffix that was revoked last, beside what came instead</source>
   <translation>最近撤销的部分，与取而代之的内容并列</translation>
  </message>
  <message>
   <source>Minutes to export</source>
   <translation>要导出的分钟数</translation>
  </message>
  <message>
   <source>Export last minutes</source>
   <translation>导出最近几分钟</translation>
  </message>
  <message>
   <source>An mp4 of what was played, made from the kept latents</source>
   <translation>由保留的潜变量制成的已播放内容 mp4</translation>
  </message>
  <message>
   <source>Clip</source>
   <translation>片段</translation>
  </message>
  <message>
   <source>A looping WebP of the {n:g} s before the chosen instant</source>
   <translation>所选时刻之前 {n:g} 秒的循环 WebP</translation>
  </message>
  <message>
   <source>Two takes</source>
   <translation>两个镜次</translation>
  </message>
  <message>
   <source>played instead</source>
   <translation>实际播放</translation>
  </message>
  <message>
   <source>{reason}; nothing was written</source>
   <translation>{reason}；没有写入任何内容</translation>
  </message>
  <message>
   <source>group {n}, {seconds} s: {prompt}</source>
   <translation>第 {n} 组，{seconds} 秒：{prompt}</translation>
  </message>
  <message>
   <source>choose another take than the current one to see both</source>
   <translation>请选择当前以外的镜次来比较</translation>
  </message>
  <message>
   <source>nothing was revoked yet: press a key or change the prompt while the cache is deep</source>
   <translation>还没有撤销任何内容：请在缓存较深时按键或更改提示词</translation>
  </message>
  <message>
   <source>Timeline</source>
   <translation>时间线</translation>
  </message>
  <message>
   <source>Drag the beginning of a prompt, or the end of its slope to make the transition longer</source>
   <translation>拖动提示词的开头，或拖动斜坡的末端以延长过渡</translation>
  </message>
  <message>
   <source>World</source>
   <translation>世界</translation>
  </message>
  <message>
   <source>The world as the camera sees it. Keys move the camera; Enter goes to the prompt box.</source>
   <translation>摄像机看到的世界。按键移动摄像机；回车前往提示词框。</translation>
  </message>
  <message>
   <source>volume {share}</source>
   <translation>音量 {share}</translation>
  </message>
  <message>
   <source>reading {name}: {share:.0%} (Esc stops it)</source>
   <translation>正在读取 {name}：{share:.0%}（Esc 停止）</translation>
  </message>
  <message>
   <source>the world could not be saved: {error}</source>
   <translation>世界无法保存：{error}</translation>
  </message>
  <message>
   <source>{error}; the world goes on as before</source>
   <translation>{error}；世界照常继续</translation>
  </message>
  <message>
   <source>&amp;World</source>
   <translation>世界(&amp;W)</translation>
  </message>
  <message>
   <source>&amp;View</source>
   <translation>视图(&amp;V)</translation>
  </message>
  <message>
   <source>&amp;Sound</source>
   <translation>声音(&amp;S)</translation>
  </message>
  <message>
   <source>&amp;Keys</source>
   <translation>按键(&amp;K)</translation>
  </message>
  <message>
   <source>&amp;Help</source>
   <translation>帮助(&amp;H)</translation>
  </message>
  <message>
   <source>S&amp;tart screen</source>
   <translation>开始界面(&amp;T)</translation>
  </message>
  <message>
   <source>worlds, models and past sessions to enter</source>
   <translation>可进入的世界、模型和以前的会话</translation>
  </message>
  <message>
   <source>&amp;Prompt</source>
   <translation>提示词(&amp;P)</translation>
  </message>
  <message>
   <source>go to the prompt box; Enter does it too</source>
   <translation>前往提示词框；回车也可以</translation>
  </message>
  <message>
   <source>P&amp;ause or resume</source>
   <translation>暂停或继续(&amp;A)</translation>
  </message>
  <message>
   <source>pause or resume; held keys are released</source>
   <translation>暂停或继续；按住的键会松开</translation>
  </message>
  <message>
   <source>&amp;New world</source>
   <translation>新世界(&amp;N)</translation>
  </message>
  <message>
   <source>a new world with this prompt and the panel's seed</source>
   <translation>用此提示词和设置中的种子开始新世界</translation>
  </message>
  <message>
   <source>&amp;Save this world</source>
   <translation>保存这个世界(&amp;S)</translation>
  </message>
  <message>
   <source>save prompt, seed, model and start image</source>
   <translation>保存提示词、种子、模型和起始图片</translation>
  </message>
  <message>
   <source>S&amp;hare this world ...</source>
   <translation>分享这个世界(&amp;H) ...</translation>
  </message>
  <message>
   <source>save this world as one file to send; it opens on the start screen or when it is dropped here</source>
   <translation>把这个世界保存为一个可以发送的文件；可在开始界面打开，或拖放到这里</translation>
  </message>
  <message>
   <source>Start from an &amp;image or video ...</source>
   <translation>从图片或视频开始(&amp;I) ...</translation>
  </message>
  <message>
   <source>a new world from an image or video</source>
   <translation>从图片或视频开始新世界</translation>
  </message>
  <message>
   <source>Clear start ima&amp;ge</source>
   <translation>清除起始图片(&amp;G)</translation>
  </message>
  <message>
   <source>a new world without a start image</source>
   <translation>没有起始图片的新世界</translation>
  </message>
  <message>
   <source>&amp;Models ...</source>
   <translation>模型(&amp;M) ...</translation>
  </message>
  <message>
   <source>open or download another model</source>
   <translation>打开或下载其他模型</translation>
  </message>
  <message>
   <source>Go &amp;back two groups</source>
   <translation>后退两组(&amp;B)</translation>
  </message>
  <message>
   <source>go on from two groups before, another way</source>
   <translation>从两组之前另走一条路</translation>
  </message>
  <message>
   <source>&amp;Record video</source>
   <translation>录像(&amp;R)</translation>
  </message>
  <message>
   <source>start or end a video of what is shown</source>
   <translation>开始或结束录制所见画面</translation>
  </message>
  <message>
   <source>Videos include the o&amp;verlay</source>
   <translation>录像包含叠加层(&amp;V)</translation>
  </message>
  <message>
   <source>&amp;Export last minutes</source>
   <translation>导出最近几分钟(&amp;E)</translation>
  </message>
  <message>
   <source>a video of the last minutes, as many as the takes panel says</source>
   <translation>最近几分钟的视频，时长在镜次面板中设定</translation>
  </message>
  <message>
   <source>Virt&amp;ual camera</source>
   <translation>虚拟摄像头(&amp;U)</translation>
  </message>
  <message>
   <source>the world as a camera for calls and streams</source>
   <translation>把世界作为通话和直播的摄像头</translation>
  </message>
  <message>
   <source>S&amp;creenshot</source>
   <translation>截图(&amp;C)</translation>
  </message>
  <message>
   <source>save what is shown as a PNG</source>
   <translation>把所见画面保存为 PNG</translation>
  </message>
  <message>
   <source>&amp;Quit</source>
   <translation>退出(&amp;Q)</translation>
  </message>
  <message>
   <source>Speculation &amp;overlay</source>
   <translation>推测叠加层(&amp;O)</translation>
  </message>
  <message>
   <source>show or hide the speculation overlay</source>
   <translation>显示或隐藏推测叠加层</translation>
  </message>
  <message>
   <source>Full o&amp;verlay</source>
   <translation>完整叠加层(&amp;V)</translation>
  </message>
  <message>
   <source>every figure of the overlay, or the three that matter most</source>
   <translation>叠加层的全部数据，或最重要的三个</translation>
  </message>
  <message>
   <source>E&amp;xplain the last change</source>
   <translation>解释上次更改(&amp;X)</translation>
  </message>
  <message>
   <source>what the overlay showed after your last key or prompt, slowly and in words</source>
   <translation>上次按键或提示词之后叠加层的变化，慢放并配文字</translation>
  </message>
  <message>
   <source>Save the overlay as a &amp;picture</source>
   <translation>把叠加层保存为图片(&amp;P)</translation>
  </message>
  <message>
   <source>the overlay of this instant as SVG and PNG, for a talk</source>
   <translation>此刻叠加层的 SVG 和 PNG，用于演讲</translation>
  </message>
  <message>
   <source>Switch &amp;commitment</source>
   <translation>切换提交方式(&amp;C)</translation>
  </message>
  <message>
   <source>switch between speculative and chunk commitment</source>
   <translation>在推测式与分块之间切换</translation>
  </message>
  <message>
   <source>&amp;Smooth scaling</source>
   <translation>平滑缩放(&amp;S)</translation>
  </message>
  <message>
   <source>smooth or sharp scaling</source>
   <translation>平滑或锐利缩放</translation>
  </message>
  <message>
   <source>&amp;Full screen</source>
   <translation>全屏(&amp;F)</translation>
  </message>
  <message>
   <source>the picture alone on the whole screen; Esc comes back</source>
   <translation>整个屏幕只有画面；Esc 返回</translation>
  </message>
  <message>
   <source>S&amp;ettings</source>
   <translation>设置(&amp;E)</translation>
  </message>
  <message>
   <source>show or hide the settings</source>
   <translation>显示或隐藏设置</translation>
  </message>
  <message>
   <source>&amp;Takes</source>
   <translation>镜次(&amp;T)</translation>
  </message>
  <message>
   <source>show or hide the takes</source>
   <translation>显示或隐藏镜次</translation>
  </message>
  <message>
   <source>Li&amp;brary</source>
   <translation>媒体库(&amp;B)</translation>
  </message>
  <message>
   <source>show or hide recordings and pictures</source>
   <translation>显示或隐藏录像和图片</translation>
  </message>
  <message>
   <source>&amp;Metrics</source>
   <translation>指标(&amp;M)</translation>
  </message>
  <message>
   <source>show or hide the metrics</source>
   <translation>显示或隐藏指标</translation>
  </message>
  <message>
   <source>Sco&amp;re</source>
   <translation>乐谱(&amp;R)</translation>
  </message>
  <message>
   <source>show or hide the score</source>
   <translation>显示或隐藏乐谱</translation>
  </message>
  <message>
   <source>&amp;Larger text</source>
   <translation>放大文字(&amp;L)</translation>
  </message>
  <message>
   <source>Sm&amp;aller text</source>
   <translation>缩小文字(&amp;A)</translation>
  </message>
  <message>
   <source>Reduce mot&amp;ion</source>
   <translation>减少动态效果(&amp;I)</translation>
  </message>
  <message>
   <source>nothing moves by itself but the world</source>
   <translation>除世界外没有东西自行移动</translation>
  </message>
  <message>
   <source>&amp;Normal text</source>
   <translation>正常文字(&amp;N)</translation>
  </message>
  <message>
   <source>&amp;Mute</source>
   <translation>静音(&amp;M)</translation>
  </message>
  <message>
   <source>mute, and back</source>
   <translation>静音与恢复</translation>
  </message>
  <message>
   <source>&amp;Louder</source>
   <translation>调高(&amp;L)</translation>
  </message>
  <message>
   <source>&amp;Quieter</source>
   <translation>调低(&amp;Q)</translation>
  </message>
  <message>
   <source>&amp;Edit ...</source>
   <translation>编辑(&amp;E) ...</translation>
  </message>
  <message>
   <source>&amp;Gamepad</source>
   <translation>手柄(&amp;G)</translation>
  </message>
  <message>
   <source>G&amp;lobal keys (while other windows are used)</source>
   <translation>全局按键（使用其他窗口时）(&amp;L)</translation>
  </message>
  <message>
   <source>What the &amp;overlay shows</source>
   <translation>叠加层显示什么(&amp;O)</translation>
  </message>
  <message>
   <source>explain the overlay</source>
   <translation>解释叠加层</translation>
  </message>
  <message>
   <source>Open &amp;log</source>
   <translation>打开日志(&amp;L)</translation>
  </message>
  <message>
   <source>what the program noted, with the details of errors</source>
   <translation>程序的记录，含错误详情</translation>
  </message>
  <message>
   <source>&amp;About Foreland</source>
   <translation>关于 Foreland(&amp;A)</translation>
  </message>
  <message>
   <source>WASD and arrows</source>
   <translation>WASD 和方向键</translation>
  </message>
  <message>
   <source>ZQSD and arrows</source>
   <translation>ZQSD 和方向键</translation>
  </message>
  <message>
   <source>Arrows only</source>
   <translation>仅方向键</translation>
  </message>
  <message>
   <source>Left-handed (IJKL)</source>
   <translation>左手 (IJKL)</translation>
  </message>
  <message>
   <source>my keys</source>
   <translation>我的按键</translation>
  </message>
 </context>
</TS>
