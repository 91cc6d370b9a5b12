"""What a prompt says of land, time and weather: words of five languages first, then the trained reader for English.

A negated word says nothing; what is not understood changes nothing, and can be told.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.models.pocket2.cells import LANDS, TIMES, WEATHERS

_LAND = {
    "meadow": "meadow|meadows|grassland|grass|pasture|prairie|countryside|green hills|lawn|"
    "farmland|wiese|wiesen|grasland|grüne hügel|prairie|"
    "prairies|pré|prés|champs|collines vertes|pradera|prado|prados|campo verde|colinas verdes|草地|草原|田野",
    "desert": "desert|dunes|dune|sahara|sand|savanna|wüste|dünen|désert|desierto|dunas|沙漠|沙丘",
    "snow": "snow|snowy|snow-covered|winter|ice|icy|arctic|glacier|frozen|tundra|alps|alpine|"
    "schnee|verschneit|verschneite|schneelandschaft|eis|winterlandschaft|"
    "neige|enneigé|enneigée|enneigées|montagnes enneigées|glacier|hiver|nieve|nevado|"
    "nevada|nevadas|invierno|hielo|雪|雪山|冬天|冰",
    "volcanic": "volcano|volcanic|volcanoes|lava|magma|inferno|mordor|vulkan|vulkane|vulkanisch|"
    "volcan|volcanique|lave|volcán|volcánico|火山|熔岩",
    "islands": "island|islands|tropical|archipelago|beach|lagoon|atoll|ocean|sea|coast|caribbean|"
    "insel|inseln|strand|tropisch|meer|küste|"
    "île|îles|plage|mer|lagon|isla|islas|playa|mar|岛|海滩|海|群岛",
    "autumn": "autumn|fall colours|fall colors|fall foliage|maple|october|forest|woods|woodland|"
    "herbst|herbstwald|wald|automne|forêt|bois|otoño|bosque|秋|秋天|森林|枫",
    "crystal": "crystal|crystals|alien|amethyst|gemstone|purple planet|kristall|kristalle|cristal|"
    "cristaux|cristales|水晶|外星",
    "city": "city|cities|town|skyscraper|skyscrapers|downtown|metropolis|streets|street|"
    "manhattan|tokyo|paris|london|new york|urban|buildings|towers|"
    "stadt|großstadt|hochhäuser|wolkenkratzer|straßen|ville|gratte-ciel|rue|rues|ciudad|"
    "rascacielos|calles|城市|都市|摩天",
}
_TIME = {
    "dawn": "dawn|sunrise|daybreak|morning|first light|morgendämmerung|sonnenaufgang|morgens|"
    "morgen|aube|lever du soleil|matin|amanecer|alba|黎明|日出|早晨|清晨",
    "noon": "noon|midday|daytime|daylight|afternoon|sunny|blue sky|by day|mittag|mittags|"
    "tagsüber|tag|midi|jour|mediodía|de día|正午|中午|白天",
    "dusk": "dusk|sunset|evening|sundown|twilight|golden hour|abend|abends|sonnenuntergang|"
    "abenddämmerung|crépuscule|soir|coucher de soleil|"
    "atardecer|anochecer|puesta de sol|黄昏|日落|傍晚",
    "night": "night|midnight|nighttime|moonlight|moonlit|starry|stars|moon|nacht|nachts|"
    "mitternacht|nuit|minuit|noche|medianoche|夜|夜晚|晚上|深夜",
}
_WEATHER = {
    "clear": "clear|cloudless|clear sky|no fog|klar|klarer himmel|wolkenlos|clair|ciel dégagé|despejado|晴|晴朗",
    "hazy": "hazy|haze|misty|mist|overcast|dunst|dunstig|diesig|brume|brumeux|bruma|calima|薄雾|霾",
    "foggy": "fog|foggy|nebel|neblig|brouillard|niebla|neblina|雾|大雾|浓雾",
}
MOST_STRANGE = 4
_GRAMMAR = (
    "the and with over under into through across near from this that some very its are not without any more for onto "
    "und mit der die das den dem ein eine einer über unter durch bei vom zum zur ohne kein keine nicht "
    "les des une avec sur sous dans par sans pas aux los las una con sobre bajo por sin del"
)
_EVERYWHERE = (
    "hill hills mountain mountains land lands landscape valley planet world place scene view scenery nature horizon field "
    "green white blue red purple golden yellow orange black bright dark warm cold soft beautiful calm quiet peaceful wide "
    "small large huge tall old deep high low distant lonely empty day light sky weather time walk walking path road river "
    "lake water tree trees rock rocks house houses flower flowers wind cloud clouds cloudy sun berge montagne montagnes "
    "montaña montañas"
)
_FILLING = frozenset((*_GRAMMAR.split(), *_EVERYWHERE.split()))
"""Words that need not be understood: of grammar, and of what every land has."""
FALLS = ("dry", "rain", "snowfall", "storm")
_FALL = {
    "dry": "dry weather|dry day|trockenes wetter|temps sec|tiempo seco|晴天",
    "rain": "rain|rains|rainy|raining|rainfall|drizzle|drizzling|showers|downpour|monsoon|"
    "regen|regnet|regnerisch|verregnet|nieselregen|pluie|pleut|pluvieux|pluvieuse|bruine|averse|"
    "lluvia|llueve|lloviendo|lluvioso|lluviosa|llovizna|雨|下雨|雨天",
    "snowfall": "snowfall|snowing|snows|snowstorm|blizzard|snowflakes|falling snow|snow is falling|snow falls|"
    "schneefall|es schneit|schneit|schneesturm|schneeflocken|chute de neige|chutes de neige|il neige|tempête de neige|"
    "nevando|nevada fuerte|nieva|ventisca|copos de nieve|下雪|暴风雪|飘雪",
    "storm": "storm|storms|stormy|thunderstorm|tempest|hurricane|sturm|stürmisch|gewitter|unwetter|"
    "orage|orageux|tempête|tormenta|tempestad|暴风雨|雷雨|暴雨|风暴",
}
_NOT = r"(?:not|no|never|without|isn't|aren't|nicht|kein|keine|keinen|ohne|nie|pas|sans|jamais|sin|nunca|不|没有|无)"
_TABLES = ((LANDS, _LAND), (TIMES, _TIME), (WEATHERS, _WEATHER))
_UNSAID = 0.6
"""The reader's answer counts from this probability on."""


@dataclass(frozen=True)
class Reading:
    """What a prompt says: indices of land, time, weather and what falls, None where it does not."""

    land: int | None
    time: int | None
    weather: int | None
    fall: int | None = None
    """Index into `FALLS`."""
    strange: tuple[str, ...] = ()
    """Words that say nothing here, at most MOST_STRANGE."""

    def __str__(self) -> str:
        said = [
            n[i]
            for n, i in zip(
                (LANDS, TIMES, WEATHERS, FALLS), (self.land, self.time, self.weather, self.fall), strict=True
            )
            if i is not None
        ]
        parts = ["read as: " + ", ".join(said)] if said else []
        parts += ["not understood: " + ", ".join(self.strange)] if self.strange else []
        return "; ".join(parts) or "nothing of it understood"


def _pattern(words: str) -> re.Pattern[str]:
    each = sorted(set(words.split("|")), key=len, reverse=True)
    latin = [re.escape(w) for w in each if w.isascii() or w[0] < "⺀"]
    other = [re.escape(w) for w in each if w[0] >= "⺀"]
    parts = ([r"(?<!\w)(?:" + "|".join(latin) + r")(?!\w)"] if latin else []) + (
        ["(?:" + "|".join(other) + ")"] if other else []
    )
    return re.compile("|".join(parts))


_PATTERNS = [[(i, _pattern(table[name])) for i, name in enumerate(names)] for names, table in _TABLES]
_FALL_PATTERNS = [(i, _pattern(_FALL[name])) for i, name in enumerate(FALLS)]
_NEGATED = re.compile(
    r"(?<!\w)" + _NOT + r"(?:\s+(?:at|in|a|an|the|any|more|de|la|le|der|die|das|dem|bei|am|es|of))*\s*$"
)


def read(prompt: str, reader: Callable[[str], list[list[float]]] | None = None) -> Reading:
    """reader: English text to probabilities of lands, times and weathers, each with 'not said' last."""
    text = prompt.lower()
    fall, text, negated = _falls(text)
    found: list[int | None] = []
    for patterns in _PATTERNS:
        best: tuple[int, int] | None = None
        for i, pattern in patterns:
            for m in pattern.finditer(text):
                if m.group() != "no fog" and _NEGATED.search(text[: m.start()]):
                    negated = True
                elif best is None or m.start() < best[0]:
                    best = (m.start(), i)
        found.append(None if best is None else best[1])
    guessed = False
    if reader is not None and text.isascii() and not negated and any(f is None for f in found):
        for k, p in enumerate(reader(prompt)):
            top = max(range(len(p)), key=p.__getitem__)
            if found[k] is None and top < len(p) - 1 and p[top] >= _UNSAID:
                found[k] = top
                guessed = True  # by all of the words
    if fall is None and found[2] == WEATHERS.index("clear"):
        fall = FALLS.index("dry")
    if fall and found[2] in (None, WEATHERS.index("clear")):
        found[2] = WEATHERS.index("hazy")  # nothing falls out of a blue sky
    return Reading(found[0], found[1], found[2], fall, () if guessed else _strange(prompt.lower()))


def _strange(text: str) -> tuple[str, ...]:
    """Words of a prompt that none of the tables has, and that are no filling either, in their order."""
    for pattern in (*(p for patterns in _PATTERNS for _, p in patterns), *(p for _, p in _FALL_PATTERNS)):
        text = pattern.sub(lambda m: " " * len(m.group()), text)
    words = (w for w in re.findall(r"[^\W\d_]{3,}", text) if w not in _FILLING)
    return tuple(dict.fromkeys(words))[:MOST_STRANGE]


def _falls(text: str) -> tuple[int | None, str, bool]:
    """What falls by the words of a text, the text without these words, so that "snowing" is no land, and whether one of
    them was negated.
    """
    best: tuple[int, int] | None = None
    negated, spans = False, []
    for i, pattern in _FALL_PATTERNS:
        for m in pattern.finditer(text):
            spans.append(m.span())
            if i and _NEGATED.search(text[: m.start()]):
                negated = True
            elif best is None or (m.start(), -len(m.group())) < best:
                best = (m.start(), -len(m.group()))
                fall: int | None = i
    if best is None:
        fall = FALLS.index("dry") if negated else None
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return fall, text, negated
