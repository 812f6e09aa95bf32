"""Sixty files of ten kinds, and sentences in thirty scripts: what readers and the tokeniser are compared on.

The files hold pages of the bundled encyclopedia, with the marks of each kind around them: headings, lists, tables,
code, links, notes, entities. ``making.py`` of the tests of readers makes those that are archives.
"""

from __future__ import annotations

import html
import json
import unicodedata
from importlib import resources
from typing import NamedTuple
from xml.sax.saxutils import escape

from tests.data.readers.files.making import docx, epub, mail, odt, paragraph, pdf, pptx, xlsx

LANGUAGES = ("en", "fr", "es", "it", "sw", "zh")
TOPICS = ("volcano", "honey", "butterfly")
CODE = "for page in pages:\n    print(page.title, '&', page.text[:10])"

SENTENCES = {
    "latin, English": "The bees' 2 hives weren't empty: co-operation pays (see RFC-2119, node.js and snake_case).",
    "latin, French": "L’été, l'abeille aujourd'hui fabrique-t-elle du miel ? Où ça ? À Orléans, 3,5 kg.",
    "latin, German": "Die Straße über den Fluß führt zur DONAUDAMPFSCHIFFFAHRTSGESELLSCHAFT, größer als Köln.",
    "latin, Turkish": "İstanbul'da IŞIK ışık yağmurlu günlerde dosyalarınızdan çıkar.",
    "latin, Vietnamese": "Núi lửa phun ra dung nham nóng chảy; tiếng Việt có nhiều dấu thanh.",
    "latin, Yoruba": "Òkè ayọnáyèéfín máa ń tú ọ̀rá gbígbóná jáde.",
    "latin, Finnish": "Tiedostossa on tiedostojen luettelo, myös käyttäjän omissa hakemistoissa.",
    "greek": "Ο ΣΊΣΥΦΟΣ σίσυφος κυλάει τον βράχο· ηφαίστεια και λάβα.",
    "cyrillic, Russian": "Вулкан извергает лаву; ёлка растёт у подъезда № 5.",
    "cyrillic, Ukrainian": "Бджоли збирають мед, а об'єкт стоїть над річкою їжака.",
    "cyrillic, Serbian": "Љубичица расте поред реке Ђетиње.",
    "armenian": "Մեղուները մեղր են պատրաստում։",
    "georgian": "ფუტკრები თაფლს აგროვებენ ყვავილებიდან.",
    "hebrew": "שָׁלוֹם עולם, הדבורים מכינות דבש בכוורת; צה״ל.",
    "arabic": "العَرَبِيَّة لغةٌ جميلةٌ، والنحل يصنع العســـل في ٣ خلايا.",
    "arabic, Persian": "زنبورها عسل می‌سازند و کتاب‌ها را می‌خوانیم.",
    "arabic, Urdu": "شہد کی مکھیاں شہد بناتی ہیں۔",
    "syriac": "ܫܠܡܐ ܠܟܘܢ ܟܠܟܘܢ.",
    "thaana": "މާމުއި އުފައްދަނީ މާމެހިން.",
    "ethiopic": "ንቦች ማር ይሠራሉ፤ እሳተ ገሞራ።",
    "devanagari, Hindi": "मधुमक्खियाँ शहद बनाती हैं। हिन्दी में क्\u200dष लिखा है।",
    "devanagari, Nepali": "मौरीले मह बनाउँछ।",
    "bengali": "মৌমাছিরা কোথায় মধু তৈরি করে?",
    "gurmukhi": "ਮਧੂਮੱਖੀਆਂ ਸ਼ਹਿਦ ਬਣਾਉਂਦੀਆਂ ਹਨ।",
    "gujarati": "મધમાખીઓ મધ બનાવે છે.",
    "oriya": "ମହୁମାଛି ମହୁ ତିଆରି କରନ୍ତି।",
    "tamil": "தேனீக்கள் தேன் சேகரிக்கின்றன; தமிழ் மொழி.",
    "telugu": "తేనెటీగలు తేనెను తయారు చేస్తాయి.",
    "kannada": "ಜೇನುನೊಣಗಳು ಜೇನು ತಯಾರಿಸುತ್ತವೆ.",
    "malayalam": "തേനീച്ചകൾ തേൻ ഉണ്ടാക്കുന്നു.",
    "sinhala": "මී මැස්සෝ මී පැණි සාදති; ශ්\u200dරී ලංකා.",
    "thai": "ผึ้งทำน้ำผึ้งในรัง ภูเขาไฟ CSS 3 คุณสมบัติ ๑๒",
    "lao": "ເຜິ້ງເຮັດນ້ຳເຜິ້ງ ພາສາລາວ",
    "khmer": "ឃ្មុំធ្វើទឹកឃ្មុំ ភាសាខ្មែរ",
    "burmese": "ပျားများသည် ပျားရည်ကို ပြုလုပ်သည်။",
    "tibetan": "སྦྲང་མས་སྦྲང་རྩི་བཟོ།",
    "chinese, simplified": "我们的学校在北京，CSS属性2个。蜜蜂酿造蜂蜜〇。",
    "chinese, traditional": "火山噴出熔岩，蜜蜂釀造蜂蜜。",
    "japanese": "今日は良い天気ですね。カタカナソフトウェア、ｶﾞｷﾞ、東京都に行きました々。",
    "korean": "한국어 파일을 설정합니다: LG전자는 서울에, 각 中國에.",
    "mongolian": "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ",
    "cherokee": "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
    "signs and numbers": "x² ½ Ⅳ ① № 5 ㎏ ﷺ ❤\ufe0f 👩\u200d👩\u200d👧 🏴 C++ C# .NET a_b x-y 3.14 1,000 10:30 a@b.org",
    "broken": "co\u00adoperate \ufeffstart \ud800 half \x00 nul e\u0301\u0323 a\u0334\u0301 Ｆｕｌｌ　ｗｉｄｔｈ １２",
}
"""Name of a script (and language) to a sentence of it."""


class Article(NamedTuple):
    """A page of the bundled encyclopedia."""

    title: str
    text: str

    @property
    def sentences(self) -> list[str]:
        return [sentence.strip() for sentence in self.text.replace("。", ". ").split(". ") if sentence.strip()]


def bundled_pages() -> list[dict]:
    """The pages of the bundled encyclopedia, as JSON objects."""
    content = resources.files("isogloss").joinpath("data/demo/pages.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in content.splitlines()]


def articles(language: str) -> list[Article]:
    """The articles that the files of one language hold."""
    pages = {page["id"]: page for page in bundled_pages()}
    chosen = [pages[f"{language}-{topic}"] for topic in TOPICS]
    return [Article(page["title"], page["text"]) for page in chosen]


def sample_files() -> dict[str, bytes]:
    """Path to content: ten files in each of six languages."""
    files = {}
    for language in LANGUAGES:
        contents = articles(language)
        plain = contents if language != "zh" else articles("tl")  # the test fonts of PDF have Latin letters only
        files |= {
            f"{language}/page.md": markdown(contents).encode(),
            f"{language}/page.rst": restructured_text(contents).encode(),
            f"{language}/page.html": web_page(contents, language).encode(),
            f"{language}/page.docx": word(contents),
            f"{language}/page.odt": open_document(contents),
            f"{language}/slides.pptx": pptx(*[(title, text) for title, text in contents]),
            f"{language}/table.xlsx": workbook(contents),
            f"{language}/book.epub": book(contents),
            f"{language}/paper.pdf": paper(plain),
            f"{language}/message.eml": mail(contents[0].title, "\n\n".join(text for _, text in contents)),
        }
    return files


def markdown(contents: list[Article]) -> str:
    first, *others = contents
    quoted, *rest = first.sentences
    lines = ["---", f'title: "{first.title}"', "tags: [a, b]", "---", "", f"# {first.title}", ""]
    lines += [f"> {quoted}.", "", " ".join(f"*{sentence}*." for sentence in rest), ""]
    for title, text in others:
        lines += [f"## {title} {{#part}}", "", f'{text} [{title}](../{title}.md "x") and `{title}`[^1].', ""]
    lines += ["| a | b |", "|---|:-:|", *[f"| {title} | {len(text)} &amp; more |" for title, text in contents], ""]
    lines += [*[f"{number}. **{title}**" for number, (title, _) in enumerate(contents, 1)], "", "- one", "  - two", ""]
    lines += ["```python", CODE, "```", "", "<div class='x'>kept<br>text</div>", "", "<!-- hidden -->", ""]
    lines += ["Setext", "------", "", "![picture](p.png) last ~~line~~ \\*plain\\*", "", f"[^1]: {quoted}."]
    return "\n".join(lines) + "\n"


def restructured_text(contents: list[Article]) -> str:
    first, *others = contents
    lines = [".. _start:", "", "=" * 40, first.title, "=" * 40, "", ":Author: nobody", "", first.text, ""]
    for title, text in others:
        lines += [title, "-" * 40, "", f"{text} See :ref:`start`, `a page <https://example.org>`_ and ``code``.", ""]
    lines += [".. note::", "", f"   {first.sentences[0]}.", "", ".. code-block:: python", ""]
    lines += [f"   {line}" for line in CODE.splitlines()]
    lines += ["", *[f"* **{title}**" for title, _ in contents], "", "term", f"  {first.sentences[-1]}.", ""]
    lines += ["====  ====", "a     b", "====  ====", "1     2", "====  ====", "", ".. comment that nobody sees", ""]
    lines += ["Then a literal block::", "", "   x = *not emphasis*", "", ".. [1] A footnote.", ""]
    return "\n".join(lines)


def web_page(contents: list[Article], language: str) -> str:
    first, *others = contents
    head = f"<title>{html.escape(first.title)} &ndash; Encyclopedia</title><style>p {{}}</style><script>1 < 2</script>"
    parts = [f"<h1>{html.escape(first.title)}</h1>", f"<p>{html.escape(first.text)}"]
    for title, text in others:
        parts += [f"<section><h2 id=x>{html.escape(title)}</h2>", f"<p>{html.escape(text)} <a href='#x'>more</a></p>"]
        parts += [f"<ul><li>{html.escape(sentence)}" for sentence in [title, first.title]]
        parts += ["</ul></section>"]
    parts += ["<table><tr><th>a<th>b<tr><td>1<td>2<br>3</table>", f"<pre>{html.escape(CODE)}</pre>"]
    parts += ["<p>H<sub>2</sub>O caf&eacute; &#8212; th&#xe9;<img alt='picture'><noscript>no</noscript></p>"]
    parts += ["<nav>menu</nav><template><p>no</p></template><p hidden>hidden?</p><p>end<!-- never -->"]
    return f"<!doctype html><html lang={language}><head>{head}</head><body>{''.join(parts)}</body></html>"


def word(contents: list[Article]) -> bytes:
    first, *others = contents
    body = paragraph(first.title, "Titel") + paragraph(first.text)
    for title, text in others:
        body += paragraph(title, "berschrift2") + paragraph(text) + paragraph(title, within="<w:numPr/>")
    cells = "".join(f"<w:tc>{paragraph(title)}</w:tc>" for title, _ in contents)
    return docx(f"{body}<w:tbl><w:tr>{cells}</w:tr></w:tbl>")


def open_document(contents: list[Article]) -> bytes:
    first, *others = contents
    body = f"<text:p>{escape(first.text)}</text:p>"
    for title, text in others:
        body += f'<text:h text:outline-level="2">{escape(title)}</text:h><text:p>{escape(text)}<text:s/>x</text:p>'
    items = "".join(f"<text:list-item><text:p>{escape(title)}</text:p></text:list-item>" for title, _ in contents)
    return odt(f"{body}<text:list>{items}</text:list>", escape(first.title))


def workbook(contents: list[Article]) -> bytes:
    rows = [
        f'<c t="inlineStr"><is><t>{escape(title)}</t></is></c><c t="inlineStr"><is><t>{escape(text)}</t></is></c>'
        f"<c><v>{len(text) / 10}</v></c>"
        for title, text in contents
    ]
    return xlsx({"First": rows, "Empty": []})


def book(contents: list[Article]) -> bytes:
    chapters = {
        f"chapter{number}.xhtml": f"<html><body><h1>{escape(title)}</h1><p>{escape(text)}</p></body></html>"
        for number, (title, text) in enumerate(contents)
    }
    return epub(chapters, escape(contents[0].title))


def paper(contents: list[Article]) -> bytes:
    pages = [[f"Encyclopedia {number}", *_lines(text)] for number, (_, text) in enumerate(contents, 1)]
    return pdf(*pages, title=_ascii(contents[0].title))


def _lines(text: str) -> list[str]:
    """Lines of eight words, as a PDF has them."""
    words = _ascii(text).replace("(", "").replace(")", "").replace("\\", "").split()
    return [" ".join(words[start : start + 8]) for start in range(0, len(words), 8)]


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def parallel_files() -> dict[str, str]:
    """Messages of programs, a translation memory, aligned lines and a table: English with French."""
    pairs = list(zip(articles("en"), articles("fr"), strict=True))
    header = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: fr\\n"\n\n'
    messages = [
        '#, fuzzy\nmsgid "Maybe"\nmsgstr "Peut-être"\n',
        '#~ msgid "Old"\n#~ msgstr "Vieux"\n',
        'msgctxt "menu"\nmsgid "&Open %s…"\nmsgstr "&Ouvrir %s…"\n',
        'msgid "Untranslated"\nmsgstr ""\n',
        'msgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] "%d fichier"\nmsgstr[1] "%d fichiers"\n',
        'msgid ""\n"A long\\n"\n"\\"quoted\\" message\\t<b>bold</b>"\nmsgstr ""\n"Un long\\n"\n"message"\n',
    ]
    messages += [f'msgid "{one.title}"\nmsgstr "{other.title}"\n' for one, other in pairs]
    units = "".join(
        f'<tu><tuv xml:lang="en-GB"><seg>{escape(one.text)} <ph x="1">&lt;br&gt;</ph></seg></tuv>'
        f'<tuv xml:lang="fr"><seg>{escape(other.text)}</seg></tuv></tu>\n'
        for one, other in pairs
    )
    return {
        "catalogue/fr.po": header + "\n".join(messages),
        "memory.tmx": f'<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>\n{units}</body></tmx>\n',
        "corpus.en": "".join(f"{one.text}\n" for one, _ in pairs),
        "corpus.fr": "".join(f"{other.text}\n" for _, other in pairs),
        "table.tsv": "en\tfr\n" + "".join(f"{one.title}\t{other.title}\n" for one, other in pairs),
    }
