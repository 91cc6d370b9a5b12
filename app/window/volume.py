"""Sound of the window: volume, mute and device, as the person left them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.audio_output import SoundOut, device_names
from app.language import tr
from app.storage.preferences import Preferences

STEP = 0.1


class Volume(QObject):
    """Sets them on the sound output and notes them in the preferences."""

    mutedChanged = Signal(bool)
    messagePosted = Signal(str)

    def __init__(self, sound: SoundOut, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sound, self._preferences = sound, preferences
        sound.set_volume(preferences.volume, preferences.muted)
        sound.device = preferences.sound_device

    def louder(self) -> None:
        self.set_volume(self._sound.volume + STEP)

    def quieter(self) -> None:
        self.set_volume(self._sound.volume - STEP)

    def set_volume(self, volume: float) -> None:
        """In [0, 1]; also ends a mute."""
        self.mute(False)
        self._sound.set_volume(round(volume, 2), False)
        self._preferences.volume = self._sound.volume
        self.messagePosted.emit(tr("volume {share}", share=f"{self._sound.volume:.0%}"))

    def mute(self, on: bool) -> None:
        self._preferences.muted = on
        self._sound.set_volume(self._sound.volume, on)
        self.mutedChanged.emit(on)

    def devices(self) -> list[str]:
        """Names of those that are there now; '' is the system's default."""
        return ["", *device_names()]

    @property
    def device(self) -> str:
        return self._sound.device

    def select_device(self, device: str) -> None:
        self._preferences.sound_device = device
        self._sound.choose(device)
