<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ja" sourcelanguage="en">
 <context>
  <name>Foreland</name>
  <message>
   <source>the sound device went away; the world plays on in silence until there is one again</source>
   <translation>音声デバイスがなくなりました。再び見つかるまで無音で続きます</translation>
  </message>
  <message>
   <source>sound is back</source>
   <translation>音声が戻りました</translation>
  </message>
  <message>
   <source>no sound device can be used ({error}); the world plays on in silence</source>
   <translation>使える音声デバイスがありません（{error}）。世界は無音で続きます</translation>
  </message>
  <message>
   <source>gamepad</source>
   <translation>ゲームパッド</translation>
  </message>
  <message>
   <source>gamepads need the package pygame-ce: pip install 'foreland[gamepad]'</source>
   <translation>ゲームパッドには pygame-ce が必要です: pip install 'foreland[gamepad]'</translation>
  </message>
  <message>
   <source>gamepads cannot be read here: {error}</source>
   <translation>ここではゲームパッドを読めません: {error}</translation>
  </message>
  <message>
   <source>global keys</source>
   <translation>グローバルキー</translation>
  </message>
  <message>
   <source>Wayland lets no program see keys of other windows: start an X11 session, or use the window's own keys</source>
   <translation>Wayland では他のウィンドウのキーを受け取れません。X11 のセッションを使うか、このウィンドウのキーを使ってください</translation>
  </message>
  <message>
   <source>there is no X display here</source>
   <translation>X ディスプレイがありません</translation>
  </message>
  <message>
   <source>macOS forbids it until Foreland is allowed under {where}</source>
   <translation>{where} で Foreland を許可するまで macOS が禁じています</translation>
  </message>
  <message>
   <source>global keys need the package pynput ({error}): pip install 'foreland[keys]'</source>
   <translation>グローバルキーには pynput が必要です（{error}）: pip install 'foreland[keys]'</translation>
  </message>
  <message>
   <source>forward</source>
   <translation>前へ</translation>
  </message>
  <message>
   <source>back</source>
   <translation>後ろへ</translation>
  </message>
  <message>
   <source>left</source>
   <translation>左へ</translation>
  </message>
  <message>
   <source>right</source>
   <translation>右へ</translation>
  </message>
  <message>
   <source>turn left</source>
   <translation>左を向く</translation>
  </message>
  <message>
   <source>turn right</source>
   <translation>右を向く</translation>
  </message>
  <message>
   <source>look up</source>
   <translation>上を見る</translation>
  </message>
  <message>
   <source>look down</source>
   <translation>下を見る</translation>
  </message>
  <message>
   <source>rise</source>
   <translation>上がる</translation>
  </message>
  <message>
   <source>sink</source>
   <translation>下がる</translation>
  </message>
  <message>
   <source>global keys on</source>
   <translation>グローバルキー オン</translation>
  </message>
  <message>
   <source>global keys: {reason}</source>
   <translation>グローバルキー: {reason}</translation>
  </message>
  <message>
   <source>mouse</source>
   <translation>マウス</translation>
  </message>
  <message>
   <source>; {n} frames are missing in it: the encoder was too slow for this machine</source>
   <translation>。{n} フレームが欠けています: エンコーダーがこのマシンには遅すぎました</translation>
  </message>
  <message>
   <source>recorded {file}</source>
   <translation>録画しました: {file}</translation>
  </message>
  <message>
   <source>no virtual camera can be opened here: {error}</source>
   <translation>ここでは仮想カメラを開けません: {error}</translation>
  </message>
  <message>
   <source>a virtual camera needs the package pyvirtualcam: pip install 'foreland[camera]'</source>
   <translation>仮想カメラには pyvirtualcam が必要です: pip install 'foreland[camera]'</translation>
  </message>
  <message>
   <source>saved {file}</source>
   <translation>保存しました: {file}</translation>
  </message>
  <message>
   <source>the screenshot could not be written to {file}</source>
   <translation>スクリーンショットを {file} に書けませんでした</translation>
  </message>
  <message>
   <source>Other programs see this world as the camera {name}</source>
   <translation>他のプログラムからはカメラ {name} として見えます</translation>
  </message>
  <message>
   <source>The overlay could not be saved: {error}</source>
   <translation>オーバーレイを保存できませんでした: {error}</translation>
  </message>
  <message>
   <source>{error}; nothing is recorded</source>
   <translation>{error}。何も録画していません</translation>
  </message>
  <message>
   <source>as the system</source>
   <translation>システムに合わせる</translation>
  </message>
  <message>
   <source>dark</source>
   <translation>ダーク</translation>
  </message>
  <message>
   <source>light</source>
   <translation>ライト</translation>
  </message>
  <message>
   <source>T&amp;heme</source>
   <translation>テーマ(&amp;H)</translation>
  </message>
  <message>
   <source>Lan&amp;guage</source>
   <translation>言語(&amp;G)</translation>
  </message>
  <message>
   <source>&amp;Device</source>
   <translation>デバイス(&amp;D)</translation>
  </message>
  <message>
   <source>&amp;Layout</source>
   <translation>配列(&amp;L)</translation>
  </message>
  <message>
   <source>Mouse s&amp;ensitivity</source>
   <translation>マウスの感度(&amp;E)</translation>
  </message>
  <message>
   <source>The language changes at the next start.</source>
   <translation>言語は次の起動から変わります。</translation>
  </message>
  <message>
   <source>system default</source>
   <translation>システムの既定</translation>
  </message>
  <message>
   <source>Time</source>
   <translation>時間</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>一時停止</translation>
  </message>
  <message>
   <source>decoding ...</source>
   <translation>デコード中 ...</translation>
  </message>
  <message>
   <source>Play</source>
   <translation>再生</translation>
  </message>
  <message>
   <source>Walk</source>
   <translation>歩く</translation>
  </message>
  <message>
   <source>Hold {move} to walk and {turn} to turn. The picture follows after a moment: it is sampled as you go.</source>
   <translation>{move} を押し続けると歩き、{turn} で向きを変えます。映像は少し遅れて付いてきます。進みながら作られるからです。</translation>
  </message>
  <message>
   <source>Say</source>
   <translation>伝える</translation>
  </message>
  <message>
   <source>Press Enter, describe another place, time or weather, and press Enter again. You need not stop walking.</source>
   <translation>Enter を押して別の場所や時刻や天気を書き、もう一度 Enter を押します。歩きながらでかまいません。</translation>
  </message>
  <message>
   <source>See the future</source>
   <translation>先を見る</translation>
  </message>
  <message>
   <source>Press {key}: the boxes right of the line are pictures that are sampled already. A key or a prompt revokes those that can still be replaced.</source>
   <translation>{key} を押すと、線の右の箱がすでに作られた映像です。キーやプロンプトは、まだ替えられるものを取り消します。</translation>
  </message>
  <message>
   <source>First steps</source>
   <translation>はじめの一歩</translation>
  </message>
  <message>
   <source>Skip</source>
   <translation>スキップ</translation>
  </message>
  <message>
   <source>Skip the first steps</source>
   <translation>はじめの一歩をスキップ</translation>
  </message>
  <message>
   <source>the model is not loaded yet</source>
   <translation>モデルはまだ読み込まれていません</translation>
  </message>
  <message>
   <source>nothing of that is kept any more</source>
   <translation>もう残っていません</translation>
  </message>
  <message>
   <source>it could not be made: {error}</source>
   <translation>作れませんでした: {error}</translation>
  </message>
  <message>
   <source>the window was closed before it was complete</source>
   <translation>完了する前にウィンドウが閉じられました</translation>
  </message>
  <message>
   <source>What the overlay shows</source>
   <translation>オーバーレイの見方</translation>
  </message>
  <message>
   <source>Keys</source>
   <translation>キー</translation>
  </message>
  <message>
   <source>Log: {file}</source>
   <translation>ログ: {file}</translation>
  </message>
  <message>
   <source>About Foreland</source>
   <translation>Foreland について</translation>
  </message>
  <message>
   <source>Start from an image or video</source>
   <translation>画像または動画から始める</translation>
  </message>
  <message>
   <source>Images and videos ({kinds})</source>
   <translation>画像と動画 ({kinds})</translation>
  </message>
  <message>
   <source>Share this world</source>
   <translation>このワールドを共有</translation>
  </message>
  <message>
   <source>Nothing to explain yet: hold a key or change the prompt, and wait until it is seen</source>
   <translation>まだ説明するものがありません。キーを押し続けるかプロンプトを変え、映像に現れるまでお待ちください</translation>
  </message>
  <message>
   <source>asking the hub</source>
   <translation>ハブに問い合わせ中</translation>
  </message>
  <message>
   <source>size and licence</source>
   <translation>サイズとライセンス</translation>
  </message>
  <message>
   <source>{name}: {done} of {total}</source>
   <translation>{name}: {total} 中 {done}</translation>
  </message>
  <message>
   <source>complete</source>
   <translation>完了</translation>
  </message>
  <message>
   <source>nothing was downloaded</source>
   <translation>何もダウンロードしていません</translation>
  </message>
  <message>
   <source>stopped</source>
   <translation>停止しました</translation>
  </message>
  <message>
   <source>checking</source>
   <translation>確認中</translation>
  </message>
  <message>
   <source>the picture could not be written to {folder}: {reason}</source>
   <translation>画像を {folder} に書けませんでした: {reason}</translation>
  </message>
  <message>
   <source>a world starts from a picture or a film of this machine: save it first, or copy the picture itself</source>
   <translation>世界はこのマシンにある画像か動画から始まります。先に保存するか、画像そのものをコピーしてください</translation>
  </message>
  <message>
   <source>{name} is not a picture or film of a known kind: {kinds}</source>
   <translation>{name} は対応する画像や動画ではありません: {kinds}</translation>
  </message>
  <message>
   <source>it is not an image, or the disk is full</source>
   <translation>画像ではないか、ディスクがいっぱいです</translation>
  </message>
  <message>
   <source>The overlay at this moment</source>
   <translation>この瞬間のオーバーレイ</translation>
  </message>
  <message>
   <source>What happened after your last change</source>
   <translation>最後の変更のあとに起きたこと</translation>
  </message>
  <message>
   <source>What happens</source>
   <translation>起きていること</translation>
  </message>
  <message>
   <source>Moment</source>
   <translation>瞬間</translation>
  </message>
  <message>
   <source>Explore worlds that a video diffusion model generates as you move. It implements *Speculative Sampling in Interactive Video Generation* (Huang et al., 2026).</source>
   <translation>動くにつれて動画拡散モデルが作る世界を探索します。*Speculative Sampling in Interactive Video Generation*（Huang et al., 2026）の実装です。</translation>
  </message>
  <message>
   <source>The pocket world is sampled by a small network that this project trained on a world that it renders itself.</source>
   <translation>ポケットワールドは、このプロジェクトが自分で描いた世界で学習させた小さなネットワークから生まれます。</translation>
  </message>
  <message>
   <source>Models that you download have licences of their own, which are shown before a download.</source>
   <translation>ダウンロードするモデルにはそれぞれのライセンスがあり、ダウンロードの前に表示されます。</translation>
  </message>
  <message>
   <source>| package | version | licence |</source>
   <translation>| パッケージ | バージョン | ライセンス |</translation>
  </message>
  <message>
   <source>Keys &gt; Edit and Keys &gt; Layout change those of the camera.</source>
   <translation>カメラのキーは「キー &gt; 編集」と「キー &gt; 配列」で変えられます。</translation>
  </message>
  <message>
   <source>from a checkout</source>
   <translation>チェックアウトから</translation>
  </message>
  <message>
   <source>Made with</source>
   <translation>使用しているもの</translation>
  </message>
  <message>
   <source>see its files</source>
   <translation>ファイルを参照</translation>
  </message>
  <message>
   <source>Menus</source>
   <translation>メニュー</translation>
  </message>
  <message>
   <source>Paused</source>
   <translation>一時停止中</translation>
  </message>
  <message>
   <source>Decoding the next picture</source>
   <translation>次の映像をデコード中</translation>
  </message>
  <message>
   <source>Sampling the next picture: step {step} of {steps}</source>
   <translation>次の映像を生成中: ステップ {step} / {steps}</translation>
  </message>
  <message>
   <source>Waiting</source>
   <translation>待機中</translation>
  </message>
  <message>
   <source>move</source>
   <translation>移動</translation>
  </message>
  <message>
   <source>turn and look</source>
   <translation>向きを変える</translation>
  </message>
  <message>
   <source>the right mouse button held and moved</source>
   <translation>右ボタンを押したままマウスを動かす</translation>
  </message>
  <message>
   <source>rise, sink</source>
   <translation>上がる、下がる</translation>
  </message>
  <message>
   <source>go to the prompt box; there Enter applies, Esc leaves, Up and Down walk through the history</source>
   <translation>プロンプト欄へ。Enter で適用、Esc で離れる、上下で履歴</translation>
  </message>
  <message>
   <source>| keys | do |</source>
   <translation>| キー | 動作 |</translation>
  </message>
  <message>
   <source>none</source>
   <translation>なし</translation>
  </message>
  <message>
   <source>, or </source>
   <translation>、または </translation>
  </message>
  <message>
   <source>{key} is “{other}” now. Make it “{action}”?</source>
   <translation>{key} は今「{other}」です。「{action}」にしますか？</translation>
  </message>
  <message>
   <source>Actions and their keys</source>
   <translation>動作とそのキー</translation>
  </message>
  <message>
   <source>Choose an action, then add a key or remove its keys</source>
   <translation>動作を選び、キーを追加または削除してください</translation>
  </message>
  <message>
   <source>Note</source>
   <translation>注記</translation>
  </message>
  <message>
   <source>&amp;Add a key</source>
   <translation>キーを追加(&amp;A)</translation>
  </message>
  <message>
   <source>&amp;Remove its keys</source>
   <translation>キーを削除(&amp;R)</translation>
  </message>
  <message>
   <source>Press the key for “{action}”; Esc leaves it</source>
   <translation>「{action}」のキーを押してください。Esc でやめます</translation>
  </message>
  <message>
   <source>{key} is “{action}”</source>
   <translation>{key} は「{action}」です</translation>
  </message>
  <message>
   <source>does</source>
   <translation>動作</translation>
  </message>
  <message>
   <source>keys</source>
   <translation>キー</translation>
  </message>
  <message>
   <source>without a key: {actions}</source>
   <translation>キーなし: {actions}</translation>
  </message>
  <message>
   <source>Nothing was changed</source>
   <translation>何も変えていません</translation>
  </message>
  <message>
   <source>This key is the program's own: press another, or Esc</source>
   <translation>このキーはプログラムが使います。別のキーか Esc を押してください</translation>
  </message>
  <message>
   <source>Delete {name}?</source>
   <translation>{name} を削除しますか？</translation>
  </message>
  <message>
   <source>Recordings and pictures</source>
   <translation>録画と画像</translation>
  </message>
  <message>
   <source>Nothing yet. Ctrl+Shift+R records a video, F12 saves a picture.</source>
   <translation>まだありません。Ctrl+Shift+R で録画、F12 で画像を保存します。</translation>
  </message>
  <message>
   <source>Open folder</source>
   <translation>フォルダーを開く</translation>
  </message>
  <message>
   <source>Rename ...</source>
   <translation>名前を変える ...</translation>
  </message>
  <message>
   <source>Delete ...</source>
   <translation>削除 ...</translation>
  </message>
  <message>
   <source>Rename</source>
   <translation>名前を変える</translation>
  </message>
  <message>
   <source>Name of the file</source>
   <translation>ファイルの名前</translation>
  </message>
  <message>
   <source>No program is there to open {file}</source>
   <translation>{file} を開くプログラムがありません</translation>
  </message>
  <message>
   <source>Delete</source>
   <translation>削除</translation>
  </message>
  <message>
   <source>There is a file of this name already; nothing was changed</source>
   <translation>同じ名前のファイルがあります。何も変えていません</translation>
  </message>
  <message>
   <source>{error}; nothing was changed</source>
   <translation>{error}。何も変えていません</translation>
  </message>
  <message>
   <source>starting</source>
   <translation>開始中</translation>
  </message>
  <message>
   <source>importing torch</source>
   <translation>torch を読み込み中</translation>
  </message>
  <message>
   <source>reading the pocket weights</source>
   <translation>ポケットワールドの重みを読み込み中</translation>
  </message>
  <message>
   <source>drawing what stands in it</source>
   <translation>そこにあるものを描画中</translation>
  </message>
  <message>
   <source>preparing the pocket world</source>
   <translation>ポケットワールドを準備中</translation>
  </message>
  <message>
   <source>closing the previous world</source>
   <translation>前の世界を閉じています</translation>
  </message>
  <message>
   <source>first picture</source>
   <translation>最初の映像</translation>
  </message>
  <message>
   <source>{stage}, step {step} of {steps}</source>
   <translation>{stage}、ステップ {step} / {steps}</translation>
  </message>
  <message>
   <source>Foreland - {model} world</source>
   <translation>Foreland - {model} の世界</translation>
  </message>
  <message>
   <source>This model has no camera: held keys become words of its prompt</source>
   <translation>このモデルにはカメラがありません。押しているキーはプロンプトの言葉になります</translation>
  </message>
  <message>
   <source>there is nothing to save yet</source>
   <translation>まだ保存するものがありません</translation>
  </message>
  <message>
   <source>Figures of the session</source>
   <translation>セッションの数値</translation>
  </message>
  <message>
   <source>cache, s</source>
   <translation>キャッシュ、秒</translation>
  </message>
  <message>
   <source>L of updates, s</source>
   <translation>変更の L、秒</translation>
  </message>
  <message>
   <source>C, s</source>
   <translation>C、秒</translation>
  </message>
  <message>
   <source>revoked share</source>
   <translation>取り消しの割合</translation>
  </message>
  <message>
   <source>Plot of {figure}</source>
   <translation>グラフ: {figure}</translation>
  </message>
  <message>
   <source>{width} x {height}, {fps:g} frames a second</source>
   <translation>{width} x {height}、毎秒 {fps:g} フレーム</translation>
  </message>
  <message>
   <source>fits; download {n:.0f} GB</source>
   <translation>使えます。{n:.0f} GB をダウンロード</translation>
  </message>
  <message>
   <source>ready, needs no GPU</source>
   <translation>準備完了、GPU 不要</translation>
  </message>
  <message>
   <source>needs a GPU with {n:g} GB</source>
   <translation>{n:g} GB の GPU が必要</translation>
  </message>
  <message>
   <source>ready</source>
   <translation>準備完了</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>モデル</translation>
  </message>
  <message>
   <source>Installed</source>
   <translation>導入済み</translation>
  </message>
  <message>
   <source>Download</source>
   <translation>ダウンロード</translation>
  </message>
  <message>
   <source>GPU memory</source>
   <translation>GPU メモリー</translation>
  </message>
  <message>
   <source>K</source>
   <translation>K</translation>
  </message>
  <message>
   <source>Licence</source>
   <translation>ライセンス</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>モデル</translation>
  </message>
  <message>
   <source>About the model</source>
   <translation>モデルについて</translation>
  </message>
  <message>
   <source>&amp;Open</source>
   <translation>開く(&amp;O)</translation>
  </message>
  <message>
   <source>&amp;Download ...</source>
   <translation>ダウンロード(&amp;D) ...</translation>
  </message>
  <message>
   <source>&amp;Cancel download</source>
   <translation>中止(&amp;C)</translation>
  </message>
  <message>
   <source>Open a &amp;folder ...</source>
   <translation>フォルダーを開く(&amp;F) ...</translation>
  </message>
  <message>
   <source>Open a f&amp;ile ...</source>
   <translation>ファイルを開く(&amp;I) ...</translation>
  </message>
  <message>
   <source>Folder of a checkpoint</source>
   <translation>チェックポイントのフォルダー</translation>
  </message>
  <message>
   <source>File of a checkpoint</source>
   <translation>チェックポイントのファイル</translation>
  </message>
  <message>
   <source>Checkpoints ({kinds})</source>
   <translation>チェックポイント ({kinds})</translation>
  </message>
  <message>
   <source>Licence: {licence}</source>
   <translation>ライセンス: {licence}</translation>
  </message>
  <message>
   <source>Do you agree to the licence and download it?</source>
   <translation>ライセンスに同意してダウンロードしますか？</translation>
  </message>
  <message>
   <source>Agree and download</source>
   <translation>同意してダウンロード</translation>
  </message>
  <message>
   <source>It does not fit: free some space, then try again.</source>
   <translation>空きが足りません。空けてからもう一度お試しください。</translation>
  </message>
  <message>
   <source>yes</source>
   <translation>はい</translation>
  </message>
  <message>
   <source>no</source>
   <translation>いいえ</translation>
  </message>
  <message>
   <source>about {n} GB</source>
   <translation>約 {n} GB</translation>
  </message>
  <message>
   <source>cannot be used</source>
   <translation>使えません</translation>
  </message>
  <message>
   <source>{free} are free in {folder}.</source>
   <translation>{folder} の空きは {free} です。</translation>
  </message>
  <message>
   <source>{model} is installed</source>
   <translation>{model} は導入済みです</translation>
  </message>
  <message>
   <source>steps: {n}</source>
   <translation>ステップ: {n}</translation>
  </message>
  <message>
   <source>{model}: {total}, of which {there} are here already.</source>
   <translation>{model}: {total}、うち {there} はすでにあります。</translation>
  </message>
  <message>
   <source>Message</source>
   <translation>メッセージ</translation>
  </message>
  <message>
   <source>Dismiss</source>
   <translation>閉じる</translation>
  </message>
  <message>
   <source>Messages</source>
   <translation>メッセージ</translation>
  </message>
  <message>
   <source>played</source>
   <translation>再生済み</translation>
  </message>
  <message>
   <source>locked: it will play</source>
   <translation>確定: 必ず再生される</translation>
  </message>
  <message>
   <source>cached: a change can revoke it</source>
   <translation>キャッシュ: 変更で取り消せる</translation>
  </message>
  <message>
   <source>being sampled</source>
   <translation>生成中</translation>
  </message>
  <message>
   <source>revoked</source>
   <translation>取り消し</translation>
  </message>
  <message>
   <source>a key or prompt, and the first picture it changed</source>
   <translation>キーやプロンプトと、最初に変わった映像</translation>
  </message>
  <message>
   <source>produce</source>
   <translation>生成</translation>
  </message>
  <message>
   <source>consume</source>
   <translation>消費</translation>
  </message>
  <message>
   <source>closed</source>
   <translation>終了</translation>
  </message>
  <message>
   <source>speculative</source>
   <translation>投機的</translation>
  </message>
  <message>
   <source>chunk</source>
   <translation>チャンク</translation>
  </message>
  <message>
   <source>loading</source>
   <translation>読み込み中</translation>
  </message>
  <message>
   <source>cache</source>
   <translation>キャッシュ</translation>
  </message>
  <message>
   <source>{n} groups, {seconds} s</source>
   <translation>{n} グループ、{seconds} 秒</translation>
  </message>
  <message>
   <source>state</source>
   <translation>状態</translation>
  </message>
  <message>
   <source>commit</source>
   <translation>確定方式</translation>
  </message>
  <message>
   <source>stalls</source>
   <translation>停止</translation>
  </message>
  <message>
   <source>latency</source>
   <translation>遅延</translation>
  </message>
  <message>
   <source>of which the line</source>
   <translation>うち回線</translation>
  </message>
  <message>
   <source>(paused)</source>
   <translation>（一時停止）</translation>
  </message>
  <message>
   <source>shared with</source>
   <translation>共有している世界</translation>
  </message>
  <message>
   <source>answer, step {step}/{steps}</source>
   <translation>応答、ステップ {step}/{steps}</translation>
  </message>
  <message>
   <source>step {step}/{steps}</source>
   <translation>ステップ {step}/{steps}</translation>
  </message>
  <message>
   <source>now</source>
   <translation>今</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>設定</translation>
  </message>
  <message>
   <source>Takes</source>
   <translation>テイク</translation>
  </message>
  <message>
   <source>Score</source>
   <translation>スコア</translation>
  </message>
  <message>
   <source>Library</source>
   <translation>ライブラリ</translation>
  </message>
  <message>
   <source>Metrics</source>
   <translation>計測</translation>
  </message>
  <message>
   <source>received</source>
   <translation>受信</translation>
  </message>
  <message>
   <source>generating ...</source>
   <translation>生成中 ...</translation>
  </message>
  <message>
   <source>live</source>
   <translation>反映</translation>
  </message>
  <message>
   <source>superseded</source>
   <translation>置き換え</translation>
  </message>
  <message>
   <source>rejected</source>
   <translation>拒否</translation>
  </message>
  <message>
   <source>dropped</source>
   <translation>破棄</translation>
  </message>
  <message>
   <source>live after {seconds} s</source>
   <translation>{seconds} 秒で反映</translation>
  </message>
  <message>
   <source>Describe the world.  Enter applies, Esc leaves</source>
   <translation>世界を書いてください。  Enter で適用、Esc で離れる</translation>
  </message>
  <message>
   <source>Prompt</source>
   <translation>プロンプト</translation>
  </message>
  <message>
   <source>Prompt status</source>
   <translation>プロンプトの状態</translation>
  </message>
  <message>
   <source>What the model understood</source>
   <translation>モデルが理解したこと</translation>
  </message>
  <message>
   <source>Keep this prompt as a favourite</source>
   <translation>このプロンプトをお気に入りに</translation>
  </message>
  <message>
   <source>Favourite</source>
   <translation>お気に入り</translation>
  </message>
  <message>
   <source>Transition: </source>
   <translation>移行: </translation>
  </message>
  <message>
   <source>Transition: none</source>
   <translation>移行: なし</translation>
  </message>
  <message>
   <source>How long the change to the next prompt takes. A longer one is made of several calls, and is gentler.</source>
   <translation>次のプロンプトに変わるまでの時間。長いほど何回かに分かれ、なめらかになります。</translation>
  </message>
  <message>
   <source>Length of the transition</source>
   <translation>移行の長さ</translation>
  </message>
  <message>
   <source>Preset and favourite prompts</source>
   <translation>見本とお気に入り</translation>
  </message>
  <message>
   <source>Presets</source>
   <translation>見本</translation>
  </message>
  <message>
   <source>not applied yet</source>
   <translation>未適用</translation>
  </message>
  <message>
   <source>Enter a prompt</source>
   <translation>プロンプトを入力してください</translation>
  </message>
  <message>
   <source>too long: at most {n} characters</source>
   <translation>長すぎます: {n} 文字まで</translation>
  </message>
  <message>
   <source>A score says prompts by itself, each at its time. Add a line to begin.</source>
   <translation>スコアはプロンプトを決めた時刻に自動で伝えます。行を追加してください。</translation>
  </message>
  <message>
   <source>Score status</source>
   <translation>スコアの状態</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>停止</translation>
  </message>
  <message>
   <source>Open a score</source>
   <translation>スコアを開く</translation>
  </message>
  <message>
   <source>Scores (*.json)</source>
   <translation>スコア (*.json)</translation>
  </message>
  <message>
   <source>Save the score</source>
   <translation>スコアを保存</translation>
  </message>
  <message>
   <source>at, s</source>
   <translation>時刻、秒</translation>
  </message>
  <message>
   <source>prompt</source>
   <translation>プロンプト</translation>
  </message>
  <message>
   <source>transition, s</source>
   <translation>移行、秒</translation>
  </message>
  <message>
   <source>Add line</source>
   <translation>行を追加</translation>
  </message>
  <message>
   <source>Remove line</source>
   <translation>行を削除</translation>
  </message>
  <message>
   <source>Open ...</source>
   <translation>開く ...</translation>
  </message>
  <message>
   <source>Save ...</source>
   <translation>保存 ...</translation>
  </message>
  <message>
   <source>finished</source>
   <translation>終了</translation>
  </message>
  <message>
   <source>next in {seconds} s</source>
   <translation>次まで {seconds} 秒</translation>
  </message>
  <message>
   <source>{file}: {n} lines</source>
   <translation>{file}: {n} 行</translation>
  </message>
  <message>
   <source>there is no line yet: add one</source>
   <translation>まだ行がありません。追加してください</translation>
  </message>
  <message>
   <source>{error}; the lines here are as they were</source>
   <translation>{error}。行はそのままです</translation>
  </message>
  <message>
   <source>{error}; nothing was saved</source>
   <translation>{error}。何も保存していません</translation>
  </message>
  <message>
   <source>Chunk length K</source>
   <translation>チャンク長 K</translation>
  </message>
  <message>
   <source>K: latents that a call samples together. A longer chunk fills the cache further ahead and costs less for each picture; a call then takes longer, and so does your key where it has to wait for one.</source>
   <translation>K: 一回の呼び出しでまとめて作る潜在表現の数。長いほど先までキャッシュが満ち、映像あたりの費用は下がりますが、一回が長くなり、待たされるキーも遅くなります。</translation>
  </message>
  <message>
   <source>Denoising steps</source>
   <translation>ノイズ除去ステップ</translation>
  </message>
  <message>
   <source>Denoising steps of a call. More steps: better pictures, and a call takes longer in proportion.</source>
   <translation>一回の呼び出しのノイズ除去ステップ。多いほど映像は良くなり、その分だけ時間がかかります。</translation>
  </message>
  <message>
   <source>Seed</source>
   <translation>シード</translation>
  </message>
  <message>
   <source>Chooses the noise of the next new world. The same prompt and seed begin at the same place; it costs nothing.</source>
   <translation>次の新しい世界のノイズを選びます。同じプロンプトとシードは同じ場所から始まります。費用はかかりません。</translation>
  </message>
  <message>
   <source>Commitment</source>
   <translation>確定方式</translation>
  </message>
  <message>
   <source>speculative: a change revokes the predictions that can still be replaced. Short latency, some sampling for nothing.
chunk: it waits for the chunk's end, as other engines do. No sampling for nothing, long latency.</source>
   <translation>投機的: 変更は、まだ替えられる予測を取り消します。遅延は短く、むだな生成が少し出ます。
チャンク: 他のエンジンのようにチャンクの終わりを待ちます。むだはなく、遅延は長くなります。</translation>
  </message>
  <message>
   <source>Short answers</source>
   <translation>短い応答</translation>
  </message>
  <message>
   <source>A key or prompt is answered by a shorter call, and a call of the full K follows. Quicker; the first pictures of an answer are sampled with few others, which can make them weaker.</source>
   <translation>キーやプロンプトには短い呼び出しで応え、K 全体の呼び出しが続きます。速くなりますが、応答の最初の映像は少ない枚数で作られるため、質が落ちることがあります。</translation>
  </message>
  <message>
   <source>Answer within</source>
   <translation>応答までの時間</translation>
  </message>
  <message>
   <source>The longest answer that is seen within this time is taken. At the left end: the shortest answer.</source>
   <translation>この時間内に見える最も長い応答を使います。左端では最も短い応答です。</translation>
  </message>
  <message>
   <source>Stop outdated calls</source>
   <translation>古くなった呼び出しを止める</translation>
  </message>
  <message>
   <source>A call that a newer key or prompt makes worthless ends at its next denoising step, and a new one begins. Quicker where calls are long; at most two in a row are stopped.</source>
   <translation>新しいキーやプロンプトで無駄になった呼び出しは、次のノイズ除去ステップで終わり、新しい呼び出しが始まります。呼び出しが長いときに速くなります。続けて止めるのは二回までです。</translation>
  </message>
  <message>
   <source>History policy</source>
   <translation>履歴の扱い</translation>
  </message>
  <message>
   <source>How what was played conditions the next call. A policy that runs it again costs time and forgets an old prompt sooner; the session log names it.</source>
   <translation>再生したものが次の呼び出しをどう条件づけるか。計算し直す方式は時間がかかり、古いプロンプトを早く忘れます。ログに名前が残ります。</translation>
  </message>
  <message>
   <source>About this model</source>
   <translation>このモデルについて</translation>
  </message>
  <message>
   <source>the model's own; Enter applies</source>
   <translation>モデルの既定。Enter で適用</translation>
  </message>
  <message>
   <source>Negative prompt</source>
   <translation>ネガティブプロンプト</translation>
  </message>
  <message>
   <source>What not to show. A call costs twice as much with it, as the model runs with and without.</source>
   <translation>見せたくないもの。あり・なしの両方で計算するため、呼び出しは二倍かかります。</translation>
  </message>
  <message>
   <source>Resume</source>
   <translation>再開</translation>
  </message>
  <message>
   <source>{seconds} s</source>
   <translation>{seconds} 秒</translation>
  </message>
  <message>
   <source>the shortest answer</source>
   <translation>最も短い応答</translation>
  </message>
  <message>
   <source>Steps</source>
   <translation>ステップ</translation>
  </message>
  <message>
   <source>History</source>
   <translation>履歴</translation>
  </message>
  <message>
   <source>now K = {k}, seen after some {seconds} s</source>
   <translation>現在 K = {k}、約 {seconds} 秒で見えます</translation>
  </message>
  <message>
   <source>{seconds} s per chunk.</source>
   <translation>チャンクは {seconds} 秒。</translation>
  </message>
  <message>
   <source>Panels</source>
   <translation>パネル</translation>
  </message>
  <message>
   <source>Go on where you were</source>
   <translation>前回の続き</translation>
  </message>
  <message>
   <source>Delete the world “{name}”? This cannot be undone.</source>
   <translation>世界「{name}」を削除しますか？元に戻せません。</translation>
  </message>
  <message>
   <source>Name of the world</source>
   <translation>世界の名前</translation>
  </message>
  <message>
   <source>&amp;Open a world file ...</source>
   <translation>世界のファイルを開く(&amp;O) ...</translation>
  </message>
  <message>
   <source>Where to?</source>
   <translation>どこへ？</translation>
  </message>
  <message>
   <source>Back to the world (Esc)</source>
   <translation>世界に戻る (Esc)</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>閉じる</translation>
  </message>
  <message>
   <source>Worlds</source>
   <translation>世界</translation>
  </message>
  <message>
   <source>Worlds, models, sessions</source>
   <translation>世界、モデル、セッション</translation>
  </message>
  <message>
   <source>Loading</source>
   <translation>読み込み中</translation>
  </message>
  <message>
   <source>Show at the &amp;start</source>
   <translation>起動時に表示(&amp;S)</translation>
  </message>
  <message>
   <source>&amp;Enter</source>
   <translation>入る(&amp;E)</translation>
  </message>
  <message>
   <source>Ready</source>
   <translation>準備完了</translation>
  </message>
  <message>
   <source>Recent sessions</source>
   <translation>最近のセッション</translation>
  </message>
  <message>
   <source>&amp;Worlds</source>
   <translation>世界(&amp;W)</translation>
  </message>
  <message>
   <source>&amp;Models</source>
   <translation>モデル(&amp;M)</translation>
  </message>
  <message>
   <source>&amp;Recent</source>
   <translation>最近(&amp;R)</translation>
  </message>
  <message>
   <source>{prompt} (seed {seed}, {model})</source>
   <translation>{prompt}（シード {seed}、{model}）</translation>
  </message>
  <message>
   <source>You changed the prompt.</source>
   <translation>プロンプトを変えました。</translation>
  </message>
  <message>
   <source>You pressed or released a key.</source>
   <translation>キーを押したか離しました。</translation>
  </message>
  <message>
   <source>Groups right of the line are sampled already. The outlined ones will play whatever you do; the others can be replaced.</source>
   <translation>線の右のグループはすでに作られています。枠のあるものは何をしても再生され、ほかは替えられます。</translation>
  </message>
  <message>
   <source>The change is on the screen after {L} s: {R} s until its call began, {C} s of sampling, {Q} s until what was locked before it had played.</source>
   <translation>変更は {L} 秒で画面に出ました: 呼び出しまで {R} 秒、生成に {C} 秒、先に確定していたものの再生まで {Q} 秒。</translation>
  </message>
  <message>
   <source>The first changed group is there. It plays as soon as the groups before it have played.</source>
   <translation>最初に変わるグループができました。前のグループが終わりしだい再生されます。</translation>
  </message>
  <message>
   <source>A call samples {n} groups under the new condition: step {step} of {steps}. Locked groups play meanwhile.</source>
   <translation>新しい条件で {n} グループを生成中: ステップ {step} / {steps}。その間は確定したグループが再生されます。</translation>
  </message>
  <message>
   <source>Its call begins as soon as the sampler is free.</source>
   <translation>サンプラーが空きしだい呼び出しが始まります。</translation>
  </message>
  <message>
   <source>{n} groups that were sampled under the old condition are revoked.</source>
   <translation>古い条件で作られた {n} グループが取り消されました。</translation>
  </message>
  <message>
   <source>take {n}</source>
   <translation>テイク {n}</translation>
  </message>
  <message>
   <source>(current)</source>
   <translation>（現在）</translation>
  </message>
  <message>
   <source>Preview of the chosen instant</source>
   <translation>選んだ瞬間のプレビュー</translation>
  </message>
  <message>
   <source>Instant of the take</source>
   <translation>テイクの瞬間</translation>
  </message>
  <message>
   <source>Go on from here</source>
   <translation>ここから続ける</translation>
  </message>
  <message>
   <source>Branch: the world goes on from the chosen group, another way</source>
   <translation>分岐: 選んだグループから別の道を進みます</translation>
  </message>
  <message>
   <source>Compare with current take</source>
   <translation>現在のテイクと比べる</translation>
  </message>
  <message>
   <source>Both, from where they part</source>
   <translation>分かれたところから両方</translation>
  </message>
  <message>
   <source>What if</source>
   <translation>もしも</translation>
  </message>
  <message>
   <source>The suffix that was revoked last, beside what came instead</source>
   <translation>最後に取り消された部分と、代わりに来たもの</translation>
  </message>
  <message>
   <source>Minutes to export</source>
   <translation>書き出す分数</translation>
  </message>
  <message>
   <source>Export last minutes</source>
   <translation>直近を書き出す</translation>
  </message>
  <message>
   <source>An mp4 of what was played, made from the kept latents</source>
   <translation>再生したものの mp4。残してある潜在表現から作ります</translation>
  </message>
  <message>
   <source>Clip</source>
   <translation>クリップ</translation>
  </message>
  <message>
   <source>A looping WebP of the {n:g} s before the chosen instant</source>
   <translation>選んだ瞬間までの {n:g} 秒をくり返す WebP</translation>
  </message>
  <message>
   <source>Two takes</source>
   <translation>二つのテイク</translation>
  </message>
  <message>
   <source>played instead</source>
   <translation>代わりに再生</translation>
  </message>
  <message>
   <source>{reason}; nothing was written</source>
   <translation>{reason}。何も書いていません</translation>
  </message>
  <message>
   <source>group {n}, {seconds} s: {prompt}</source>
   <translation>グループ {n}、{seconds} 秒: {prompt}</translation>
  </message>
  <message>
   <source>choose another take than the current one to see both</source>
   <translation>両方を見るには、現在以外のテイクを選んでください</translation>
  </message>
  <message>
   <source>nothing was revoked yet: press a key or change the prompt while the cache is deep</source>
   <translation>まだ何も取り消されていません。キャッシュが深いうちにキーを押すかプロンプトを変えてください</translation>
  </message>
  <message>
   <source>Timeline</source>
   <translation>タイムライン</translation>
  </message>
  <message>
   <source>Drag the beginning of a prompt, or the end of its slope to make the transition longer</source>
   <translation>プロンプトの始まり、または斜面の端をドラッグすると移行が長くなります</translation>
  </message>
  <message>
   <source>World</source>
   <translation>世界</translation>
  </message>
  <message>
   <source>The world as the camera sees it. Keys move the camera; Enter goes to the prompt box.</source>
   <translation>カメラから見た世界。キーでカメラが動き、Enter でプロンプト欄へ移ります。</translation>
  </message>
  <message>
   <source>volume {share}</source>
   <translation>音量 {share}</translation>
  </message>
  <message>
   <source>reading {name}: {share:.0%} (Esc stops it)</source>
   <translation>{name} を読み込み中: {share:.0%}（Esc で中止）</translation>
  </message>
  <message>
   <source>the world could not be saved: {error}</source>
   <translation>世界を保存できませんでした: {error}</translation>
  </message>
  <message>
   <source>{error}; the world goes on as before</source>
   <translation>{error}。世界は前のまま続きます</translation>
  </message>
  <message>
   <source>&amp;World</source>
   <translation>世界(&amp;W)</translation>
  </message>
  <message>
   <source>&amp;View</source>
   <translation>表示(&amp;V)</translation>
  </message>
  <message>
   <source>&amp;Sound</source>
   <translation>音(&amp;S)</translation>
  </message>
  <message>
   <source>&amp;Keys</source>
   <translation>キー(&amp;K)</translation>
  </message>
  <message>
   <source>&amp;Help</source>
   <translation>ヘルプ(&amp;H)</translation>
  </message>
  <message>
   <source>S&amp;tart screen</source>
   <translation>スタート画面(&amp;T)</translation>
  </message>
  <message>
   <source>worlds, models and past sessions to enter</source>
   <translation>入れる世界、モデル、過去のセッション</translation>
  </message>
  <message>
   <source>&amp;Prompt</source>
   <translation>プロンプト(&amp;P)</translation>
  </message>
  <message>
   <source>go to the prompt box; Enter does it too</source>
   <translation>プロンプト欄へ。Enter でも行けます</translation>
  </message>
  <message>
   <source>P&amp;ause or resume</source>
   <translation>一時停止・再開(&amp;A)</translation>
  </message>
  <message>
   <source>pause or resume; held keys are released</source>
   <translation>一時停止または再開。押しているキーは離されます</translation>
  </message>
  <message>
   <source>&amp;New world</source>
   <translation>新しい世界(&amp;N)</translation>
  </message>
  <message>
   <source>a new world with this prompt and the panel's seed</source>
   <translation>このプロンプトと設定のシードで新しい世界</translation>
  </message>
  <message>
   <source>&amp;Save this world</source>
   <translation>この世界を保存(&amp;S)</translation>
  </message>
  <message>
   <source>save prompt, seed, model and start image</source>
   <translation>プロンプト、シード、モデル、開始画像を保存</translation>
  </message>
  <message>
   <source>S&amp;hare this world ...</source>
   <translation>このワールドを共有(&amp;H) ...</translation>
  </message>
  <message>
   <source>save this world as one file to send; it opens on the start screen or when it is dropped here</source>
   <translation>このワールドを送れる 1 つのファイルに保存します。スタート画面から、またはここにドロップして開けます</translation>
  </message>
  <message>
   <source>Start from an &amp;image or video ...</source>
   <translation>画像または動画から始める(&amp;I) ...</translation>
  </message>
  <message>
   <source>a new world from an image or video</source>
   <translation>画像または動画から新しい世界</translation>
  </message>
  <message>
   <source>Clear start ima&amp;ge</source>
   <translation>開始画像を消す(&amp;G)</translation>
  </message>
  <message>
   <source>a new world without a start image</source>
   <translation>開始画像なしの新しい世界</translation>
  </message>
  <message>
   <source>&amp;Models ...</source>
   <translation>モデル(&amp;M) ...</translation>
  </message>
  <message>
   <source>open or download another model</source>
   <translation>別のモデルを開く、またはダウンロード</translation>
  </message>
  <message>
   <source>Go &amp;back two groups</source>
   <translation>二グループ戻る(&amp;B)</translation>
  </message>
  <message>
   <source>go on from two groups before, another way</source>
   <translation>二グループ前から別の道を進む</translation>
  </message>
  <message>
   <source>&amp;Record video</source>
   <translation>録画(&amp;R)</translation>
  </message>
  <message>
   <source>start or end a video of what is shown</source>
   <translation>見えているものの録画を始める・終える</translation>
  </message>
  <message>
   <source>Videos include the o&amp;verlay</source>
   <translation>録画にオーバーレイを含める(&amp;V)</translation>
  </message>
  <message>
   <source>&amp;Export last minutes</source>
   <translation>直近を書き出す(&amp;E)</translation>
  </message>
  <message>
   <source>a video of the last minutes, as many as the takes panel says</source>
   <translation>直近の動画。長さはテイクのパネルで決めます</translation>
  </message>
  <message>
   <source>Virt&amp;ual camera</source>
   <translation>仮想カメラ(&amp;U)</translation>
  </message>
  <message>
   <source>the world as a camera for calls and streams</source>
   <translation>通話や配信用のカメラとしての世界</translation>
  </message>
  <message>
   <source>S&amp;creenshot</source>
   <translation>スクリーンショット(&amp;C)</translation>
  </message>
  <message>
   <source>save what is shown as a PNG</source>
   <translation>見えているものを PNG で保存</translation>
  </message>
  <message>
   <source>&amp;Quit</source>
   <translation>終了(&amp;Q)</translation>
  </message>
  <message>
   <source>Speculation &amp;overlay</source>
   <translation>投機オーバーレイ(&amp;O)</translation>
  </message>
  <message>
   <source>show or hide the speculation overlay</source>
   <translation>投機オーバーレイの表示を切り替え</translation>
  </message>
  <message>
   <source>Full o&amp;verlay</source>
   <translation>詳しいオーバーレイ(&amp;V)</translation>
  </message>
  <message>
   <source>every figure of the overlay, or the three that matter most</source>
   <translation>すべての数値、または大切な三つ</translation>
  </message>
  <message>
   <source>E&amp;xplain the last change</source>
   <translation>最後の変更を説明(&amp;X)</translation>
  </message>
  <message>
   <source>what the overlay showed after your last key or prompt, slowly and in words</source>
   <translation>最後のキーやプロンプトのあとのオーバーレイを、ゆっくり言葉で</translation>
  </message>
  <message>
   <source>Save the overlay as a &amp;picture</source>
   <translation>オーバーレイを画像で保存(&amp;P)</translation>
  </message>
  <message>
   <source>the overlay of this instant as SVG and PNG, for a talk</source>
   <translation>この瞬間のオーバーレイを発表用に SVG と PNG で</translation>
  </message>
  <message>
   <source>Switch &amp;commitment</source>
   <translation>確定方式を切り替え(&amp;C)</translation>
  </message>
  <message>
   <source>switch between speculative and chunk commitment</source>
   <translation>投機的とチャンクを切り替え</translation>
  </message>
  <message>
   <source>&amp;Smooth scaling</source>
   <translation>なめらかに拡大(&amp;S)</translation>
  </message>
  <message>
   <source>smooth or sharp scaling</source>
   <translation>なめらか、またはくっきり</translation>
  </message>
  <message>
   <source>&amp;Full screen</source>
   <translation>全画面(&amp;F)</translation>
  </message>
  <message>
   <source>the picture alone on the whole screen; Esc comes back</source>
   <translation>画面いっぱいに映像だけ。Esc で戻ります</translation>
  </message>
  <message>
   <source>S&amp;ettings</source>
   <translation>設定(&amp;E)</translation>
  </message>
  <message>
   <source>show or hide the settings</source>
   <translation>設定の表示を切り替え</translation>
  </message>
  <message>
   <source>&amp;Takes</source>
   <translation>テイク(&amp;T)</translation>
  </message>
  <message>
   <source>show or hide the takes</source>
   <translation>テイクの表示を切り替え</translation>
  </message>
  <message>
   <source>Li&amp;brary</source>
   <translation>ライブラリ(&amp;B)</translation>
  </message>
  <message>
   <source>show or hide recordings and pictures</source>
   <translation>録画と画像の表示を切り替え</translation>
  </message>
  <message>
   <source>&amp;Metrics</source>
   <translation>計測(&amp;M)</translation>
  </message>
  <message>
   <source>show or hide the metrics</source>
   <translation>計測の表示を切り替え</translation>
  </message>
  <message>
   <source>Sco&amp;re</source>
   <translation>スコア(&amp;R)</translation>
  </message>
  <message>
   <source>show or hide the score</source>
   <translation>スコアの表示を切り替え</translation>
  </message>
  <message>
   <source>&amp;Larger text</source>
   <translation>文字を大きく(&amp;L)</translation>
  </message>
  <message>
   <source>Sm&amp;aller text</source>
   <translation>文字を小さく(&amp;A)</translation>
  </message>
  <message>
   <source>Reduce mot&amp;ion</source>
   <translation>動きを減らす(&amp;I)</translation>
  </message>
  <message>
   <source>nothing moves by itself but the world</source>
   <translation>世界のほかは自分から動きません</translation>
  </message>
  <message>
   <source>&amp;Normal text</source>
   <translation>標準の文字(&amp;N)</translation>
  </message>
  <message>
   <source>&amp;Mute</source>
   <translation>消音(&amp;M)</translation>
  </message>
  <message>
   <source>mute, and back</source>
   <translation>消音と解除</translation>
  </message>
  <message>
   <source>&amp;Louder</source>
   <translation>大きく(&amp;L)</translation>
  </message>
  <message>
   <source>&amp;Quieter</source>
   <translation>小さく(&amp;Q)</translation>
  </message>
  <message>
   <source>&amp;Edit ...</source>
   <translation>編集(&amp;E) ...</translation>
  </message>
  <message>
   <source>&amp;Gamepad</source>
   <translation>ゲームパッド(&amp;G)</translation>
  </message>
  <message>
   <source>G&amp;lobal keys (while other windows are used)</source>
   <translation>グローバルキー（他のウィンドウでも）(&amp;L)</translation>
  </message>
  <message>
   <source>What the &amp;overlay shows</source>
   <translation>オーバーレイの見方(&amp;O)</translation>
  </message>
  <message>
   <source>explain the overlay</source>
   <translation>オーバーレイの説明</translation>
  </message>
  <message>
   <source>Open &amp;log</source>
   <translation>ログを開く(&amp;L)</translation>
  </message>
  <message>
   <source>what the program noted, with the details of errors</source>
   <translation>プログラムの記録とエラーの詳細</translation>
  </message>
  <message>
   <source>&amp;About Foreland</source>
   <translation>Foreland について(&amp;A)</translation>
  </message>
  <message>
   <source>WASD and arrows</source>
   <translation>WASD と矢印</translation>
  </message>
  <message>
   <source>ZQSD and arrows</source>
   <translation>ZQSD と矢印</translation>
  </message>
  <message>
   <source>Arrows only</source>
   <translation>矢印のみ</translation>
  </message>
  <message>
   <source>Left-handed (IJKL)</source>
   <translation>左利き (IJKL)</translation>
  </message>
  <message>
   <source>my keys</source>
   <translation>自分のキー</translation>
  </message>
 </context>
</TS>
