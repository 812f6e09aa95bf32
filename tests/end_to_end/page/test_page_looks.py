"""Small screens, dark mode, contrast, and what a screen reader is told."""

from __future__ import annotations

from itertools import pairwise

import pytest

expect = pytest.importorskip("playwright.sync_api").expect
Axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe

VIEWS = {
    "start": "",
    "results": "?q=water+animal+species+xyzzy",
    "nothing": "?q=xyzzy&lang=fr",
    "document": "?q=elephant&language=fr&id=fr-elephant",
    "compare": "?q=water+animal+species&compare=1",
}
CONTRAST = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
    const rgba = colour => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = colour => rgba(colour).slice(0, 3).map(part => part / 255)
        .map(part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4)
        .reduce((sum, part, place) => sum + part * [.2126, .7152, .0722][place], 0);
    const ground = element => {
        for (let here = element; here; here = here.parentElement) {
            const colour = getComputedStyle(here).backgroundColor;
            if (rgba(colour)[3] === 255) return colour;
        }
        return "white";
    };
    const poor = [];
    for (const element of document.querySelectorAll("body *")) {
        const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        if (!own || !element.checkVisibility() || element.closest(".unseen, noscript")) continue;
        const [one, two] = [getComputedStyle(element).color, ground(element)].map(light);
        const ratio = (Math.max(one, two) + .05) / (Math.min(one, two) + .05);
        if (ratio < 4.5) poor.push(`${element.tagName}.${element.className}: ${ratio.toFixed(2)}`);
    }
    return poor;
}"""
NAMELESS = """() => [...document.querySelectorAll("button, a[href], input, select")]
    .filter(element => !(element.getAttribute("aria-label") || element.textContent.trim()
        || [...(element.labels ?? [])].some(label => label.textContent.trim())))
    .map(element => element.outerHTML)"""


@pytest.mark.parametrize("width", [320, 768])
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_wider_than_the_window(demo_site, open_page, view, width):
    page = open_page(demo_site + VIEWS[view], viewport={"width": width, "height": 640})
    for toggle in page.locator(".toggle").all()[:2]:
        toggle.click()
        expect(page.locator(".why .pairs").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    cut = "element => element.getBoundingClientRect().right <= innerWidth + 1"
    assert all(element.evaluate(cut) for element in page.locator("main p, main a, main button, header *").all()[:60])


def test_one_endless_word_does_not_widen_the_page(own_site, open_page):
    page = open_page(f"{own_site}?q=sea", viewport={"width": 320, "height": 640})
    expect(page.locator(".card").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_text_stands_out_from_its_ground(demo_site, open_page, view, scheme):
    page = open_page(demo_site + VIEWS[view], color_scheme=scheme, reduced_motion="reduce")
    for toggle in page.locator(".toggle").all()[:1]:
        toggle.click()
        expect(page.locator(".why .pairs").first).to_be_visible()
    assert page.evaluate(CONTRAST) == []


def test_dark_is_dark_and_light_is_light(demo_site, open_page):
    ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    assert max(open_page(demo_site, color_scheme="dark").evaluate(ground)) < 60
    assert min(open_page(demo_site, color_scheme="light").evaluate(ground)) > 200


@pytest.mark.parametrize("view", VIEWS)
def test_a_screen_reader_finds_its_way(demo_site, open_page, view):
    page = open_page(demo_site + VIEWS[view])
    for role in ("banner", "search", "main", "contentinfo"):
        expect(page.get_by_role(role)).to_have_count(1)
    assert page.evaluate(NAMELESS) == []
    assert page.locator("html").get_attribute("lang") == "en"
    expect(page.get_by_role("group", name="Languages to search")).to_be_visible()
    levels = [int(tag[1]) for tag in page.locator("h1, h2, h3").evaluate_all("all => all.map(one => one.tagName)")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = page.locator("[id]").evaluate_all("all => all.map(one => one.id)")
    assert len(ids) == len(set(ids))


def test_the_number_of_results_is_announced(demo_site, open_page, ask):
    page = open_page(demo_site)
    status = page.get_by_role("status")
    expect(status).to_have_attribute("aria-live", "polite")
    ask(page, "elephant")
    expect(status).to_contain_text("result")


def test_colours_that_the_reader_forces_keep_the_choices_apart(demo_site, open_page):
    page = open_page(f"{demo_site}?q=water&lang=fr", forced_colors="active")
    width = "element => getComputedStyle(element).borderTopWidth"
    assert page.locator(".choice", has_text="French").evaluate(width) != page.locator(
        ".choice", has_text="All"
    ).evaluate(width)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", [*VIEWS, "manuals", "manual"])
def test_axe_finds_nothing_that_keeps_people_out(demo_site, manuals_site, open_page, view, scheme):
    own = {"manuals": "?q=salt+sea", "manual": "?q=salt+sea&language=fr&id=guide%2Fsel.md"}
    address = manuals_site + own[view] if view in own else demo_site + VIEWS[view]
    page = open_page(address, color_scheme=scheme, reduced_motion="reduce")
    for toggle in page.locator(".toggle").all()[:1]:
        toggle.click()
        expect(page.locator(".why .pairs").first).to_be_visible()
        page.get_by_text("In numbers").first.click()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_the_rank_of_the_tenth_result_stands_in_one_line(demo_site, open_page):
    page = open_page(demo_site + "?q=water")
    first, tenth = (page.locator(".rank").nth(place).bounding_box() for place in (0, 9))
    assert tenth["height"] == first["height"]
