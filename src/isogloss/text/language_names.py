"""Languages by their codes: the two letters of ISO 639-1, the three of ISO 639-3, and the English name."""

from __future__ import annotations

import re
from functools import cache

_TABLE = """
af afr Afrikaans
ar ara Arabic
az aze Azerbaijani
be bel Belarusian
bg bul Bulgarian
bn ben Bengali
br bre Breton
bs bos Bosnian
ca cat Catalan
cs ces Czech
cy cym Welsh
da dan Danish
de deu German
el ell Greek
en eng English
eo epo Esperanto
es spa Spanish
et est Estonian
eu eus Basque
fa fas Persian
fi fin Finnish
fr fra French
ga gle Irish
gl glg Galician
gu guj Gujarati
he heb Hebrew
hi hin Hindi
hr hrv Croatian
hu hun Hungarian
hy hye Armenian
id ind Indonesian
is isl Icelandic
it ita Italian
ja jpn Japanese
ka kat Georgian
kk kaz Kazakh
km khm Khmer
kn kan Kannada
ko kor Korean
ku kur Kurdish
la lat Latin
lo lao Lao
lt lit Lithuanian
lv lav Latvian
mk mkd Macedonian
ml mal Malayalam
mr mar Marathi
ms msa Malay
my mya Burmese
nb nor Norwegian Bokmål
ne nep Nepali
nl nld Dutch
nn nno Norwegian Nynorsk
no nor Norwegian
oc oci Occitan
pa pan Punjabi
pl pol Polish
pt por Portuguese
ro ron Romanian
ru rus Russian
si sin Sinhala
sk slk Slovak
sl slv Slovenian
sq sqi Albanian
sr srp Serbian
st sot Sesotho
sv swe Swedish
sw swh Swahili
ta tam Tamil
te tel Telugu
th tha Thai
tl tgl Tagalog
tr tur Turkish
uk ukr Ukrainian
ur urd Urdu
uz uzb Uzbek
vi vie Vietnamese
yi yid Yiddish
zh zho Chinese
"""
_LANGUAGES = {code: (long, name) for code, long, name in (line.split(" ", 2) for line in _TABLE.strip().splitlines())}


_OTHERS = """
aa ab ae ak am an as av ay ba bh bi bm bo ce ch co cr cu cv dv dz ee ff fj fo fy gd gn gv ha ho ht hz ia ie ig ii ik
io iu jv kg ki kj kl kr ks kv kw ky lb lg li ln lu mg mh mi mn mt na nd ng nr nv ny oj om or os pi ps qu rm rn rw sa sc
sd se sg sh sm sn so ss su tg ti tk tn to ts tt tw ty ug ve vo wa wo xh yo za zu
"""
_OTHER_CODES = frozenset(_OTHERS.split())
"""Those of ISO 639-1 that have no name here."""
_SYNONYMS = {
    "iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "alb": "sq", "arm": "hy", "baq": "eu", "bur": "my",
    "chi": "zh", "cmn": "zh", "cze": "cs", "dut": "nl", "fil": "tl", "fre": "fr", "geo": "ka", "ger": "de", "gre": "el",
    "ice": "is", "mac": "mk", "may": "ms", "nob": "nb", "per": "fa", "rum": "ro", "slo": "sk", "swa": "sw", "wel": "cy",
    "farsi": "fa", "filipino": "tl", "flemish": "nl", "mandarin": "zh", "kiswahili": "sw", "castilian": "es",
}  # fmt: skip


def find_code(language: str) -> str:
    """The code of a language by a code or its English name, without region and script; empty where it is not known.

    Codes of three letters that the table does not have are taken as they are.

    >>> [find_code(each) for each in ("FR", "fr_CA", "zh-Hans-CN", "fra", "Spanish", "xx", "klingon", "tlh")]
    ['fr', 'fr', 'zh', 'fr', 'es', '', '', 'tlh']
    """
    name = language.strip().lower()
    code = re.split("[-_@]", name, maxsplit=1)[0]
    found = _SYNONYMS.get(name) or _by_name().get(name) or _SYNONYMS.get(code) or _by_name().get(code)
    if found:
        return found
    is_code = code in _LANGUAGES or code in _OTHER_CODES or (len(code) == 3 and code.isascii() and code.isalpha())
    return code if is_code else ""


def code_or_itself(language: str) -> str:
    """The code of a language, however the user writes it; what is a code of two letters, or not known, is kept.

    >>> [code_or_itself(each) for each in ("zh-CN", "spanish", "FR", "no", "klingon")]
    ['zh', 'es', 'fr', 'no', 'klingon']
    """
    is_code = len(language) == 2 and language.isascii() and language.islower()
    return language if is_code else find_code(language) or language


@cache
def _by_name() -> dict[str, str]:
    """English names and codes of three letters to those of two."""
    names = {name.lower(): code for code, (_, name) in _LANGUAGES.items()}
    return names | {long: code for code, (long, _) in _LANGUAGES.items()}


def known_languages() -> list[str]:
    """The codes of the table."""
    return list(_LANGUAGES)


def language_name(code: str) -> str:
    """The English name; the code itself where the table has none.

    >>> language_name("sw"), language_name("xx")
    ('Swahili', 'xx')
    """
    return _LANGUAGES.get(code, ("", code))[1]


def long_code(code: str) -> str:
    """The code of three letters, as dictionaries are named by it; the code itself where the table has none.

    >>> long_code("de"), long_code("xx")
    ('deu', 'xx')
    """
    return _LANGUAGES.get(code, (code, ""))[0]
