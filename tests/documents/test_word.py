"""Word: a marked secret in every hiding place is gone, what was not a secret is still there, formatting too."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import docx
import pytest
from PIL import Image
from tests.documents.marked import MARK, Rewritten, assert_gone, found_in_zip, mark, rewritten, scrub
from tests.documents.packed import PACKAGE, package, parts_of

from shoal import documents
from shoal.documents import DocumentOptions
from shoal.errors import SourceError

WML = "application/vnd.openxmlformats-officedocument.wordprocessingml"
SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" '
    'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:w15="http://schemas.microsoft.com/office/word/2012/wordml"'
)
PLACES = (
    "body", "bold", "split", "tabbed", "table", "nested", "header", "footer", "footnote", "endnote", "comment",
    "commenter", "initials", "inserted", "inserter", "deleted", "deleter", "moved", "deletedrow", "textbox", "wordart",
    "field", "splitfield", "simplefield", "fieldresult", "hyperlink", "tooltip", "bookmark", "alt", "picturetitle",
    "picturename", "vmlalt", "control", "controltag", "listitem", "formdefault", "tablecaption", "numbering", "style",
    "creator", "modifier", "title", "company", "custom", "customxml", "docvar", "mergesource", "template", "object",
    "chart", "chartdata", "diagram", "glossary", "people", "hidden", "equation", "comment2", "instruction", "exif",
    "thumbnail", "orphan", "macro", "chunk", "smarttag",
)  # fmt: skip


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*runs: str) -> str:
    stops = '<w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs>'
    return f'<w:p w:rsidR="00AB12CD"><w:pPr>{stops}</w:pPr>{"".join(runs)}</w:p>'


def picture() -> bytes:
    out = io.BytesIO()
    exif = Image.Exif()
    exif[0x013B] = mark("exif")
    Image.new("RGB", (4, 4), (200, 0, 0)).save(out, "JPEG", exif=exif)
    return out.getvalue()


GRID = "<w:tblGrid><w:gridCol/></w:tblGrid>"
WHO = 'w:id="1" w:date="2024-01-01T00:00:00Z"'
BODY = "".join(
    (
        paragraph(run("Dear "), run(mark("body"), "<w:i/>"), run(", you stay.")),
        paragraph(run(mark("bold"), "<w:b/>"), run(" and ", "<w:u/>"), run(mark("hidden"), "<w:vanish/>")),
        paragraph(run("A Qui", "<w:b/>"), run("llsplit"), run("feather stays apart", "<w:i/>")),
        paragraph(run("left"), "<w:r><w:tab/></w:r>", run(mark("tabbed")), "<w:r><w:br/></w:r>", run("right")),
        f'<w:tbl><w:tblPr><w:tblCaption w:val="{mark("tablecaption")}"/></w:tblPr>{GRID}<w:tr><w:tc>',
        paragraph(run(mark("table"))),
        f"<w:tbl>{GRID}<w:tr><w:tc>{paragraph(run(mark('nested')))}</w:tc></w:tr></w:tbl>{paragraph()}</w:tc></w:tr>",
        f'<w:tr><w:trPr><w:del {WHO} w:author="x"/></w:trPr><w:tc>{paragraph(run(mark("deletedrow")))}</w:tc></w:tr>',
        "</w:tbl>",
        paragraph(
            f'<w:ins {WHO} w:author="{mark("inserter")}">{run(mark("inserted") + " new")}</w:ins>',
            f'<w:del {WHO} w:author="{mark("deleter")}"><w:r><w:delText>{mark("deleted")}</w:delText></w:r></w:del>',
            f'<w:moveFrom {WHO} w:author="x">{run(mark("moved"))}</w:moveFrom>',
        ),
        paragraph(
            '<w:r><w:pict><v:shape type="#t"><v:textbox><w:txbxContent>'
            f"{paragraph(run(mark('textbox')), run(' in a box'))}</w:txbxContent></v:textbox></v:shape>"
            f'<v:shape alt="{mark("vmlalt")}"><v:textpath string="{mark("wordart")}"/></v:shape></w:pict></w:r>'
        ),
        paragraph(
            '<w:r><w:fldChar w:fldCharType="begin"/></w:r>',
            f'<w:r><w:instrText>HYPERLINK "mailto:{mark("field")}@example.org" Quill</w:instrText></w:r>',
            "<w:r><w:instrText>splitfieldfeather</w:instrText></w:r>",
            '<w:r><w:fldChar w:fldCharType="separate"/></w:r>',
            run(mark("fieldresult")),
            '<w:r><w:fldChar w:fldCharType="end"/></w:r>',
            f'<w:fldSimple w:instr="AUTHOR {mark("simplefield")}">{run("x")}</w:fldSimple>',
        ),
        paragraph(
            f'<w:bookmarkStart w:id="0" w:name="{mark("bookmark")}"/><w:bookmarkEnd w:id="0"/>',
            f'<w:hyperlink r:id="rLink" w:tooltip="{mark("tooltip")}">{run("click")}</w:hyperlink>',
            f'<w:hyperlink w:anchor="{mark("bookmark")}">{run("jump")}</w:hyperlink>',
        ),
        paragraph(
            '<w:r><w:drawing><wp:inline><wp:extent cx="9525" cy="9525"/>'
            f'<wp:docPr id="1" name="{mark("picturename")}" descr="{mark("alt")}" title="{mark("picturetitle")}"/>'
            '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic>'
            '<pic:nvPicPr><pic:cNvPr id="0" name="p"/><pic:cNvPicPr/></pic:nvPicPr>'
            '<pic:blipFill><a:blip r:embed="rPicture"/></pic:blipFill><pic:spPr/></pic:pic></a:graphicData></a:graphic>'
            "</wp:inline></w:drawing></w:r>"
        ),
        f'<w:sdt><w:sdtPr><w:alias w:val="{mark("control")}"/><w:tag w:val="{mark("controltag")}"/>'
        f'<w:dropDownList><w:listItem w:displayText="x" w:value="{mark("listitem")}"/></w:dropDownList>'
        f'<w:dataBinding w:xpath="/a" w:storeItemID="{{1}}"/></w:sdtPr><w:sdtContent>{paragraph(run("held"))}'
        "</w:sdtContent></w:sdt>",
        paragraph(
            '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:textInput>'
            f'<w:default w:val="{mark("formdefault")}"/></w:textInput></w:ffData></w:fldChar></w:r>'
        ),
        paragraph(
            '<w:r><w:object><v:shape/><o:OLEObject Type="Embed" r:id="rObject"/></w:object></w:r>', run("object")
        ),
        '<w:altChunk r:id="rChunk"/>',
        paragraph(f"<m:oMath><m:r><m:t>{mark('equation')}</m:t></m:r></m:oMath>"),
        paragraph(
            '<w:smartTag w:element="PersonName"><w:smartTagPr>'
            f'<w:attr w:name="n" w:val="{mark("smarttag")}"/></w:smartTagPr>{run("tagged")}</w:smartTag>'
        ),
        f"<!-- {mark('comment2')} --><?word {mark('instruction')}?>",
        paragraph(run("The end."), '<w:r><w:commentReference w:id="0"/></w:r>'),
    )
)


def part(name: str, inner: str) -> str:
    return f"<w:{name} {SPACES}>{inner}</w:{name}>"


def document() -> bytes:
    core = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
    chart = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    a = "http://schemas.openxmlformats.org/drawingml/2006/main"
    parts: dict[str, tuple[str, str | bytes]] = {
        "word/document.xml": (f"{WML}.document.main+xml", part("document", f"<w:body>{BODY}</w:body>")),
        "word/styles.xml": (
            f"{WML}.styles+xml",
            part("styles", f'<w:style w:type="paragraph" w:styleId="a"><w:name w:val="{mark("style")}"/></w:style>'),
        ),
        "word/numbering.xml": (
            f"{WML}.numbering+xml",
            part(
                "numbering",
                f'<w:abstractNum><w:lvl><w:lvlText w:val="%1 {mark("numbering")}"/></w:lvl></w:abstractNum>',
            ),
        ),
        "word/settings.xml": (
            f"{WML}.settings+xml",
            part(
                "settings",
                '<w:attachedTemplate r:id="rTemplate"/><w:rsids><w:rsid w:val="00AB12CD"/></w:rsids>'
                f'<w:mailMerge><w:query w:val="{mark("mergesource")}"/></w:mailMerge>'
                f'<w:docVars><w:docVar w:name="x" w:val="{mark("docvar")}"/></w:docVars>',
            ),
        ),
        "word/comments.xml": (
            f"{WML}.comments+xml",
            part(
                "comments",
                f'<w:comment {WHO} w:author="{mark("commenter")}" w:initials="{mark("initials")}">'
                f"{paragraph(run(mark('comment')), run(' noted'))}</w:comment>",
            ),
        ),
        "word/people.xml": (
            "application/vnd.openxmlformats-officedocument.wordprocessingml.people+xml",
            f'<w15:people {SPACES}><w15:person w15:author="{mark("people")}"/></w15:people>',
        ),
        "word/glossary/document.xml": (
            f"{WML}.document.glossary+xml",
            part("glossaryDocument", paragraph(run(mark("glossary")))),
        ),
        "word/charts/chart1.xml": (
            "application/vnd.openxmlformats-officedocument.drawingml.chart+xml",
            f'<c:chart xmlns:c="{chart}" xmlns:a="{a}"><c:title><a:p><a:r><a:t>Quill</a:t></a:r><a:r>'
            f"<a:t>chartfeather</a:t></a:r></a:p></c:title><c:v>{mark('chartdata')}</c:v></c:chart>",
        ),
        "word/diagrams/data1.xml": (
            "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml",
            f'<d xmlns:a="{a}"><a:p><a:r><a:t>{mark("diagram")}</a:t></a:r></a:p></d>',
        ),
        "word/media/image1.jpeg": ("image/jpeg", picture()),
        "word/embeddings/oleObject1.bin": (
            "application/vnd.openxmlformats-officedocument.oleObject",
            mark("object").encode("utf-16-le"),
        ),
        "word/vbaProject.bin": ("application/vnd.ms-office.vbaProject", mark("macro")),
        "word/chunk.html": ("text/html", mark("chunk")),
        "customXml/item1.xml": ("application/xml", f"<a>{mark('customxml')}</a>"),
        "docProps/thumbnail.jpeg": ("image/jpeg", picture() + mark("thumbnail").encode()),
        "docProps/core.xml": (
            "application/vnd.openxmlformats-package.core-properties+xml",
            f'<c:coreProperties xmlns:c="{core}" xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<dc:creator>{mark('creator')}</dc:creator><dc:title>{mark('title')}</dc:title>"
            f"<c:lastModifiedBy>{mark('modifier')}</c:lastModifiedBy></c:coreProperties>",
        ),
        "docProps/app.xml": (
            "application/vnd.openxmlformats-officedocument.extended-properties+xml",
            f"<Properties><Company>{mark('company')}</Company></Properties>",
        ),
        "docProps/custom.xml": (
            "application/vnd.openxmlformats-officedocument.custom-properties+xml",
            f"<Properties><property>{mark('custom')}</property></Properties>",
        ),
        "word/orphan.xml": (f"{WML}.header+xml", part("hdr", paragraph(run(mark("orphan"))))),
    }
    for name, root, inner in (
        ("header", "hdr", paragraph(run(mark("header")), run(" head"))),
        ("footer", "ftr", paragraph(run(mark("footer")))),
        ("footnotes", "footnotes", f'<w:footnote w:id="1">{paragraph(run(mark("footnote")))}</w:footnote>'),
        ("endnotes", "endnotes", f'<w:endnote w:id="1">{paragraph(run(mark("endnote")))}</w:endnote>'),
    ):
        parts[f"word/{name}.xml"] = (f"{WML}.{name}+xml", part(root, inner))
    links = {
        "": [
            ("r1", "officeDocument", "word/document.xml"),
            ("r2", f"{PACKAGE}/metadata/core-properties", "docProps/core.xml"),
            ("r3", "extended-properties", "docProps/app.xml"),
            ("r4", "custom-properties", "docProps/custom.xml"),
            ("r5", f"{PACKAGE}/metadata/thumbnail", "docProps/thumbnail.jpeg"),
        ],
        "word/document.xml": [
            *((f"r{name}", name, f"{name}.xml") for name in ("styles", "numbering", "settings", "comments", "people")),
            *((f"r{name}", name, f"{name}.xml") for name in ("header", "footer", "footnotes", "endnotes")),
            ("rGlossary", "glossaryDocument", "glossary/document.xml"),
            ("rChart", "chart", "charts/chart1.xml"),
            ("rDiagram", "diagramData", "diagrams/data1.xml"),
            ("rPicture", "image", "media/image1.jpeg"),
            ("rObject", "oleObject", "embeddings/oleObject1.bin"),
            ("rMacro", "vbaProject", "vbaProject.bin"),
            ("rChunk", "aFChunk", "chunk.html"),
            ("rXml", "customXml", "../customXml/item1.xml"),
            ("rLink", "hyperlink", f"mailto:{mark('hyperlink')}@example.org"),
        ],
        "word/settings.xml": [("rTemplate", "attachedTemplate", f"file:///C:/Users/{mark('template')}/a.dotx")],
    }
    return package(parts, links)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Rewritten:
    return rewritten(tmp_path_factory.mktemp("word"), "docx", document())


@pytest.mark.requirement("X-05")
@pytest.mark.parametrize("place", PLACES)
def test_every_hiding_place(place: str, files: Rewritten) -> None:
    assert_gone(place, files, {"split": "llsplit", "splitfield": "splitfieldfeather", "chart": "chartfeather"})


def test_nothing_is_left_at_all(files: Rewritten) -> None:
    assert found_in_zip(files[1]) == set()


def test_an_independent_reader_sees_the_rest(files: Rewritten) -> None:
    read = docx.Document(io.BytesIO(files[1]))
    texts = [one.text for one in read.paragraphs]
    assert texts[:4] == [
        "Dear [PERSON], you stay.",
        "[PERSON] and [PERSON]",
        "A [PERSON] stays apart",
        "left\t[PERSON]\nright",
    ]
    assert texts[-1] == "The end."
    assert [one.italic for one in read.paragraphs[0].runs] == [None, True, None]
    assert [one.bold for one in read.paragraphs[2].runs] == [True, None, None]
    assert read.tables[0].cell(0, 0).paragraphs[0].text == "[PERSON]"
    assert len(read.tables[0].rows) == 1
    assert MARK.search("\n".join(texts)) is None


def test_a_document_of_another_writer(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    made = docx.Document()
    made.add_heading("Report", 1)
    made.add_paragraph(f"About {mark('a')} and more").add_run(" in bold").bold = True
    made.core_properties.author = mark("author")
    made.save(str(path))
    documents.open(path).rewrite(path, path, scrub)
    read = docx.Document(str(path))
    assert [one.text for one in read.paragraphs] == ["Report", "About [PERSON] and more in bold"]
    assert read.paragraphs[0].style is not None
    assert read.paragraphs[0].style.name == "Heading 1"
    assert read.core_properties.author in {"", "python-docx"}
    assert found_in_zip(path.read_bytes()) == set()


def test_the_account_names_what_went_and_holds_no_value(files: Rewritten) -> None:
    account = files[2]
    removed = {entry.what for entry in account.removed}
    assert {"picture", "oleObject", "vbaProject", "tracked change", "core-properties", "people"} <= removed
    assert {"link to an outside attachedTemplate", "part that nothing leads to"} <= removed
    assert any(entry.place == "body, paragraph 1" for entry in account.cleaned)
    assert "feather" not in str(account.to_dict())


def test_scanning_sees_hidden_places(files: Rewritten, tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(files[0])
    seen = set(MARK.findall("\n".join(piece.text for piece in documents.open(path).texts(path))))
    for place in ("body", "split", "deleted", "comment", "commenter", "textbox", "creator", "company", "alt", "chart"):
        assert mark(place) in seen, place


def test_pictures_may_stay_without_what_is_written_beside_the_pixels(tmp_path: Path) -> None:
    old, new = tmp_path / "a.docx", tmp_path / "b.docx"
    old.write_bytes(document())
    documents.format_for(old, DocumentOptions(pictures="keep")).rewrite(old, new, scrub)
    kept = parts_of(new.read_bytes())["word/media/image1.jpeg"]
    assert Image.open(io.BytesIO(kept)).size == (4, 4)
    assert found_in_zip(new.read_bytes()) == set()


def test_cleaning_twice_changes_nothing(files: Rewritten, tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(files[1])
    documents.open(path).rewrite(path, path, scrub)
    before, after = parts_of(files[1]), parts_of(path.read_bytes())
    assert before["word/document.xml"] == after["word/document.xml"]
    assert set(before) == set(after)


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", "<Types/>")
        file.writestr("word/document.xml", b"\0" * (1 << 26))
    return out.getvalue()


def twice() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("word/a.xml", "<a/>")
        file.writestr("word/A.xml", "<a/>")
    return out.getvalue()


def with_entity() -> bytes:
    kind = f"{WML}.document.main+xml"
    hostile = '<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]><w>&x;</w>'
    return package({"word/document.xml": (kind, hostile)}, {"": [("r1", "officeDocument", "word/document.xml")]})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (bomb(), "would unpack to 64 MB"),
        (twice(), "two parts of one name"),
        (with_entity(), "document type"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512, "encrypted, or of the binary format"),
        (document()[:2000], "not a whole office file"),
        (b"hello", "not a whole office file"),
    ],
    ids=["bomb", "twice", "entity", "encrypted", "cut", "other"],
)
def test_hostile_and_broken_files_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path, target = tmp_path / "a.docx", tmp_path / "b.docx"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=said):
        documents.open(path).rewrite(path, target, scrub)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.docx"]
