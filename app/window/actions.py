"""Every action of the window as data: menus, tooltips, the list of keys in the help and in the guide are made of it."""

from __future__ import annotations

from dataclasses import dataclass

from app.language import tr

MENUS = {"world": "&World", "view": "&View", "sound": "&Sound", "keys": "&Keys", "help": "&Help"}
"""Menus by the first part of their actions' ids, in their order."""


@dataclass(frozen=True)
class Action:
    """One entry of a menu."""

    id: str
    """Menu and name, as in world.pause."""
    title: str
    """With an & before the letter that opens it."""
    handler: str
    """What is called: a dotted name in the main window. A checkable action hands over whether it is on."""
    shortcut: str = ""
    help: str = ""
    """What it does, where the title does not say it all."""
    checkable: bool = False
    panel: bool = False
    """Opens the side bar at the page of this name, or closes it: the handler gets the page's name or ''."""
    refocus: bool = False
    """Whether the viewport has the keyboard afterwards."""
    separated: bool = False
    """A line is drawn above it."""

    @property
    def menu(self) -> str:
        return self.id.partition(".")[0]

    @property
    def name(self) -> str:
        """The title without its & and dots."""
        return tr(self.title).replace("&", "").removesuffix(" ...")

    @property
    def label(self) -> str:
        """The name with its shortcut, for buttons and tooltips."""
        return f"{self.name} ({self.shortcut})" if self.shortcut else self.name


ACTIONS = (
    Action("world.start", "S&tart screen", "start.open", "Ctrl+Shift+W", "worlds, models and past sessions to enter"),
    Action("world.prompt", "&Prompt", "prompt.focus_text", "Ctrl+L", "go to the prompt box; Enter does it too"),
    Action(
        "world.pause",
        "P&ause or resume",
        "world.toggle_pause",
        "Ctrl+P",
        "pause or resume; held keys are released",
        refocus=True,
    ),
    Action(
        "world.new",
        "&New world",
        "new_world",
        "Ctrl+R",
        "a new world with this prompt and the panel's seed",
        refocus=True,
    ),
    Action(
        "world.save",
        "&Save this world",
        "save_world",
        "Ctrl+S",
        "save prompt, seed, model and start image",
        refocus=True,
    ),
    Action(
        "world.share",
        "S&hare this world ...",
        "share_world",
        "Ctrl+Shift+S",
        "save this world as one file to send; it opens on the start screen or when it is dropped here",
        refocus=True,
    ),
    Action(
        "world.start_image",
        "Start from an &image or video ...",
        "pick_start_file",
        "Ctrl+O",
        "a new world from an image or video",
        refocus=True,
    ),
    Action(
        "world.clear_start",
        "Clear start ima&ge",
        "clear_start_image",
        "Ctrl+Shift+O",
        "a new world without a start image",
        refocus=True,
    ),
    Action("world.models", "&Models ...", "dialogs.show_models", "Ctrl+M", "open or download another model"),
    Action(
        "world.step_back",
        "Go &back two groups",
        "world.step_back",
        "Ctrl+Backspace",
        "go on from two groups before, another way",
        refocus=True,
        separated=True,
    ),
    Action(
        "world.record",
        "&Record video",
        "capture.record",
        "Ctrl+Shift+R",
        "start or end a video of what is shown",
        checkable=True,
        refocus=True,
    ),
    Action("world.record_overlay", "Videos include the o&verlay", "capture.include_overlay", checkable=True),
    Action(
        "world.export",
        "&Export last minutes",
        "takes.export",
        "Ctrl+Shift+L",
        "a video of the last minutes, as many as the takes panel says",
        refocus=True,
    ),
    Action(
        "world.camera",
        "Virt&ual camera",
        "capture.use_camera",
        "",
        "the world as a camera for calls and streams",
        checkable=True,
    ),
    Action("world.screenshot", "S&creenshot", "capture.screenshot", "F12", "save what is shown as a PNG", refocus=True),
    Action("world.quit", "&Quit", "close", "Ctrl+Q", separated=True),
    Action(
        "view.overlay",
        "Speculation &overlay",
        "viewport.show_overlay",
        "F3",
        "show or hide the speculation overlay",
        checkable=True,
    ),
    Action(
        "view.overlay_full",
        "Full o&verlay",
        "viewport.show_full_overlay",
        "Shift+F3",
        "every figure of the overlay, or the three that matter most",
        checkable=True,
    ),
    Action(
        "view.explain",
        "E&xplain the last change",
        "dialogs.explain",
        "Ctrl+E",
        "what the overlay showed after your last key or prompt, slowly and in words",
    ),
    Action(
        "view.export_overlay",
        "Save the overlay as a &picture",
        "capture.export_overlay",
        "Shift+F12",
        "the overlay of this instant as SVG and PNG, for a talk",
        refocus=True,
    ),
    Action(
        "view.commitment",
        "Switch &commitment",
        "settings.toggle_commit",
        "F4",
        "switch between speculative and chunk commitment",
        refocus=True,
    ),
    Action(
        "view.smooth", "&Smooth scaling", "viewport.scale_smoothly", "F6", "smooth or sharp scaling", checkable=True
    ),
    Action(
        "view.full_screen",
        "&Full screen",
        "show_full_screen",
        "F11",
        "the picture alone on the whole screen; Esc comes back",
        checkable=True,
        refocus=True,
    ),
    Action("view.settings", "S&ettings", "side.show_page", "F9", "show or hide the settings", panel=True),
    Action("view.takes", "&Takes", "side.show_page", "F7", "show or hide the takes", panel=True),
    Action("view.library", "Li&brary", "side.show_page", "Ctrl+B", "show or hide recordings and pictures", panel=True),
    Action("view.metrics", "&Metrics", "side.show_page", "F8", "show or hide the metrics", panel=True),
    Action("view.score", "Sco&re", "side.show_page", "F5", "show or hide the score", panel=True),
    Action("view.larger_text", "&Larger text", "appearance.enlarge_text", "Ctrl++"),
    Action("view.smaller_text", "Sm&aller text", "appearance.shrink_text", "Ctrl+-"),
    Action("view.still", "Reduce mot&ion", "keep_still", "", "nothing moves by itself but the world", checkable=True),
    Action("view.normal_text", "&Normal text", "appearance.reset_text", "Ctrl+0"),
    Action("sound.mute", "&Mute", "volume.mute", "Ctrl+Shift+M", "mute, and back", checkable=True),
    Action("sound.louder", "&Louder", "volume.louder", "Ctrl+Up"),
    Action("sound.quieter", "&Quieter", "volume.quieter", "Ctrl+Down"),
    Action("keys.edit", "&Edit ...", "dialogs.edit_keys"),
    Action("keys.gamepad", "&Gamepad", "inputs.use_gamepad", checkable=True, refocus=True),
    Action(
        "keys.global",
        "G&lobal keys (while other windows are used)",
        "inputs.use_global_keys",
        checkable=True,
        refocus=True,
    ),
    Action("help.overlay", "What the &overlay shows", "dialogs.show_help", "F1", "explain the overlay"),
    Action("help.keys", "&Keys", "dialogs.show_keys"),
    Action("help.log", "Open &log", "dialogs.show_log", help="what the program noted, with the details of errors"),
    Action("help.about", "&About Foreland", "dialogs.show_about"),
)
BY_ID = {a.id: a for a in ACTIONS}
