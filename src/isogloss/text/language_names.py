"""Languages by their codes: the two letters of ISO 639-1, the three of ISO 639-3, and the English name."""

from __future__ import annotations

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
