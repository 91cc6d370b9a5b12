"""Wordings for the pocket world: what a person may type, and what it says of biome, time and weather.

Captions are drawn from synonyms and templates; each may leave attributes out. `HELD_OUT` wordings are never trained on.
"""

from __future__ import annotations

import numpy as np

from engine.models.pocket.network import ATTRIBUTES

WORDS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (
        (
            "meadow", "green meadow", "grassland", "grassy hills", "green hills", "rolling green hills", "pasture",
            "fields of grass", "lush valley", "green valley", "countryside", "prairie", "farmland", "spring meadows",
            "lawn", "grass", "green fields", "a park", "flower meadow", "green land", "hills",
        ),
        (
            "desert", "sandy desert", "sand dunes", "dunes", "sahara", "arid desert", "dry sandy land", "sea of sand",
            "hot desert", "canyon of sand", "cactus desert", "wasteland of sand", "savanna", "sand", "dry land",
            "gobi desert", "sandy plains", "drought land",
        ),
        (
            "snow", "snowy mountains", "snow-covered mountains", "winter landscape", "icy peaks", "arctic land", "glacier",
            "frozen mountains", "snowfield", "alps in winter", "tundra", "ice and snow", "snowy peaks", "white mountains",
            "frozen land", "polar landscape", "antarctica", "winter", "ice",
        ),
        (
            "volcanic land", "volcano", "lava fields", "lava", "volcanic rock", "black rock and lava", "lava lakes",
            "burnt volcanic mountains", "magma", "molten rock", "a land of fire and ash", "volcanoes", "hell", "inferno",
            "mordor", "ash and embers",
        ),
        (
            "islands", "tropical islands", "archipelago", "island", "ocean with islands", "a tropical sea", "sea and beaches",
            "beach", "islands in the ocean", "coast", "lagoon", "atolls", "palm islands", "the sea", "ocean", "seaside",
            "small islands", "caribbean islands",
        ),
        (
            "autumn forest", "autumn", "autumn trees", "red and orange trees", "maple forest", "autumn woodland",
            "forest in fall colours", "orange forest", "fall foliage", "woods with red leaves", "golden autumn forest",
            "forest", "woods", "october forest", "autumn hills",
        ),
        (
            "crystal land", "crystals", "purple crystal mountains", "alien planet", "alien landscape", "crystal world",
            "purple mountains with cyan crystals", "amethyst hills", "violet alien land", "magic crystal land",
            "glowing crystals", "fantasy crystal valley", "strange purple planet", "gemstone mountains", "purple land",
        ),
        (
            "city", "big city", "skyscrapers", "downtown", "city streets", "modern city", "tall buildings", "metropolis",
            "urban skyline", "manhattan", "city with towers", "town", "streets between buildings", "a megacity", "tokyo",
            "office towers", "buildings",
        ),
    ),
    (
        (
            "dawn", "sunrise", "early morning", "at daybreak", "morning", "first light", "in the early morning light",
            "as the sun rises", "pink morning sky", "pastel sunrise",
        ),
        (
            "noon", "midday", "day", "daytime", "bright daylight", "in the middle of the day", "sunny day", "blue sky",
            "afternoon", "broad daylight", "under the high sun", "sunny",
        ),
        (
            "dusk", "sunset", "evening", "at sundown", "twilight", "orange evening sky", "as the sun sets", "golden hour",
            "red sunset", "evening glow", "late evening",
        ),
        (
            "night", "midnight", "at night", "dark night", "moonlight", "under the stars", "nighttime", "under the moon",
            "moonlit", "starry night", "in the dark",
        ),
    ),
    (
        ("clear", "clear sky", "clear weather", "good visibility", "cloudless", "clear air", "fine weather", "no fog"),
        ("hazy", "misty", "light haze", "light mist", "haze", "mist", "dusty air", "overcast", "hazy air", "grey sky"),
        ("foggy", "fog", "thick fog", "dense fog", "in heavy fog", "deep fog", "very foggy", "fog everywhere"),
    ),
)  # fmt: skip

HELD_OUT: tuple[tuple[tuple[str, ...], ...], ...] = (
    (
        ("grassy meadows", "green pastures", "green countryside"),
        ("desert dunes", "dry desert sand", "sandy wasteland"),
        ("mountains covered in snow", "snowy landscape", "icy mountains"),
        ("volcanic landscape", "rivers of lava", "erupting volcano"),
        ("tropical island", "islands in the sea", "tropical beach"),
        ("autumn leaves", "forest in autumn", "fall forest"),
        ("crystal mountains", "purple alien world", "land of crystals"),
        ("city skyline", "a city of skyscrapers", "downtown streets"),
    ),
    (
        ("at dawn", "morning light", "a rosy sunrise"),
        ("at noon", "bright sunny day", "in daylight"),
        ("at dusk", "evening sunset", "a glowing sunset"),
        ("in the night", "dark midnight", "moonlit night"),
    ),
    (
        ("in clear weather", "clear skies", "crisp clear air"),
        ("in the haze", "some mist", "hazy weather"),
        ("in dense fog", "foggy weather", "lost in fog"),
    ),
)

TEMPLATES = (
    "{}", "{}", "{}", "a view of {}", "{}, wide angle", "I want to see {}", "walking through {}", "flying over {}",
    "a photo of {}", "show me {}", "make it {}", "turn it into {}", "{}, cinematic", "a beautiful {}", "now {}",
    "the world becomes {}", "let there be {}", "{} please", "an endless {}", "exploring {}", "concept art of {}",
    "a video game with {}", "it is {}", "change to {}", "{} as far as the eye can see", "take me to {}",
)  # fmt: skip
JOINS = (", ", " ", " and ", ", ", " with ", " in ", " at ", " - ", ". ")
FILLER = (
    "a house", "something nice", "hello", "a big red car", "my friend", "please", "slowly", "a dog running", "music",
    "left", "go on", "a robot", "faster", "tell me a story", "quiet", "the king", "many people", "numbers", "a cup of tea",
    "asdf", "xyz", "beautiful", "epic", "high quality", "4k", "detailed", "an old painting", "the end", "a song",
)  # fmt: skip


def caption(rng: np.random.Generator, words: tuple = WORDS, said: tuple[bool, bool, bool] | None = None) -> tuple[str, np.ndarray]:
    """A caption and its (3,) labels; an attribute that is not said has the label one past its last class."""
    if said is None:
        said = (rng.random() < 0.8, rng.random() < 0.65, rng.random() < 0.35)
    labels = np.array(ATTRIBUTES)
    parts = []
    for i, speak in enumerate(said):
        if speak:
            labels[i] = rng.integers(ATTRIBUTES[i])
            parts.append(str(rng.choice(words[i][labels[i]])))
    if rng.random() < 0.25 or not parts:
        parts.append(str(rng.choice(FILLER)))
    rng.shuffle(parts)
    text = parts[0]
    for part in parts[1:]:
        text += str(rng.choice(JOINS)) + part
    text = str(rng.choice(TEMPLATES)).format(text)
    if rng.random() < 0.2:
        text = text.capitalize()
    return text, labels
