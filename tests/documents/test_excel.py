"""Excel: a marked secret in every hiding place is gone, what was not a secret is still there."""

from __future__ import annotations

import io
from pathlib import Path

import openpyxl
import pytest
from tests.documents.marked import MARK, NUMBER, Rewritten, assert_gone, found_in_zip, mark, rewritten, scrub
from tests.documents.packed import PACKAGE, package, parts_of

from shoal import documents
from shoal.documents.cleaning_account import EditRecorder
from shoal.documents.office.excel import RenamedReferences, cleaned
from shoal.errors import SourceError

SML = "application/vnd.openxmlformats-officedocument.spreadsheetml"
MAIN = (
    'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
PLACES = (
    "shared", "rich", "phonetic", "inline", "cached", "formula", "unused", "hiddenrow", "hiddensheet", "sheetname",
    "rangename", "rangecomment", "header", "footer", "prompt", "list", "error", "filter", "condition", "linkto",
    "linktip", "linkdisplay", "note", "noteauthor", "thread", "person", "tablename", "tablecolumn", "drawing",
    "shapename", "shapealt", "chart", "chartcache", "vml", "pivot", "pivotcache", "outside", "connection", "creator",
    "custom", "path", "scenario", "object", "printer", "calcmacro", "sharing", "format",
)  # fmt: skip

ROWS = f"""<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>
<c r="C1" t="inlineStr"><is><t>phone</t></is></c></row>
<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>42</v></c><c r="C2"><v>{NUMBER}</v></c></row>
<row r="3" hidden="1"><c r="A3" t="s"><v>3</v></c><c r="B3"><v>7.12345678E8</v></c>
<c r="C3" t="inlineStr"><is><r><t>Quill</t></r><r><t>inlinefeather</t></r></is></c></row>
<row r="4"><c r="A4" t="str"><f>A2&amp;"{mark("formula")}"</f><v>{mark("cached")} x</v></c>
<c r="B4"><f>SUM(B2:B3)</f><v>43</v></c><c r="C4" t="str"><f>[1]Sheet1!A1</f><v>from outside</v></c>
<c r="D4"><f>'{mark("sheetname")}'!A1+{mark("rangename")}</f><v>5</v></c>
<c r="E4"><f>B2+{NUMBER}</f><v>8</v></c></row>"""


def sheet() -> str:
    return f"""<worksheet {MAIN}><sheetData>{ROWS}</sheetData>
<autoFilter ref="A1:A4"><filterColumn colId="0"><filters><filter val="{mark("filter")}"/></filters></filterColumn>
</autoFilter><scenarios><scenario name="{mark("scenario")}" user="{mark("scenario")}"/></scenarios>
<conditionalFormatting sqref="A1"><cfRule type="containsText" text="{mark("condition")}" priority="1">
<formula>NOT(ISERROR(SEARCH("{mark("condition")}",A1)))</formula></cfRule></conditionalFormatting>
<dataValidations count="1"><dataValidation type="list" sqref="A1" prompt="{mark("prompt")}" error="{mark("error")}">
<formula1>"{mark("list")},other"</formula1></dataValidation></dataValidations>
<hyperlinks><hyperlink ref="A1" r:id="rLink" tooltip="{mark("linktip")}" display="{mark("linkdisplay")}"/>
<hyperlink ref="A2" location="'{mark("sheetname")}'!A1"/></hyperlinks>
<pageSetup orientation="landscape" r:id="rPrinter"/>
<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"{mark("header")}&amp;RPage &amp;P</oddHeader>
<oddFooter>&amp;C{mark("footer")}</oddFooter></headerFooter>
<drawing r:id="rDrawing"/><legacyDrawing r:id="rVml"/>
<oleObjects><oleObject progId="x" shapeId="1" r:id="rObject"/></oleObjects>
<tableParts count="1"><tablePart r:id="rTable"/></tableParts></worksheet>"""


def workbook_xml() -> str:
    return f"""<workbook {MAIN}><fileSharing userName="{mark("sharing")}"/>
<x15ac:absPath xmlns:x15ac="http://schemas.microsoft.com/office/spreadsheetml/2010/11/ac" url="C:\\{mark("path")}\\"/>
<sheets><sheet name="People" sheetId="1" r:id="rSheet1"/>
<sheet name="{mark("sheetname")}" sheetId="2" state="veryHidden" r:id="rSheet2"/></sheets>
<externalReferences><externalReference r:id="rOutside"/></externalReferences>
<definedNames><definedName name="{mark("rangename")}" comment="{mark("rangecomment")}">'{mark("sheetname")}'!$A$1
</definedName><definedName name="Plain">People!$B$2</definedName></definedNames>
<pivotCaches><pivotCache cacheId="1" r:id="rCache"/></pivotCaches></workbook>"""


def book() -> bytes:
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
    a = "http://schemas.openxmlformats.org/drawingml/2006/main"
    chart = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    office = "application/vnd.openxmlformats-officedocument"
    strings = (
        f"<si><t>name</t></si><si><t>count</t></si><si><t xml:space='preserve'>Dear {mark('shared')} </t>"
        f"<rPh sb='0' eb='1'><t>{mark('phonetic')}</t></rPh></si>"
        f"<si><r><rPr><b/></rPr><t>in a {mark('hiddenrow')} Qui</t></r><r><t>llrichfeather row</t></r></si>"
        f"<si><t>{mark('unused')}</t></si>"
    )
    parts: dict[str, tuple[str, str | bytes]] = {
        "xl/workbook.xml": (f"{SML}.sheet.main+xml", workbook_xml()),
        "xl/worksheets/sheet1.xml": (f"{SML}.worksheet+xml", sheet()),
        "xl/worksheets/sheet2.xml": (
            f"{SML}.worksheet+xml",
            f'<worksheet {MAIN}><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>{mark("hiddensheet")} here</t>'
            "</is></c></row></sheetData></worksheet>",
        ),
        "xl/sharedStrings.xml": (f"{SML}.sharedStrings+xml", f"<sst {MAIN}>{strings}</sst>"),
        "xl/styles.xml": (
            f"{SML}.styles+xml",
            f'<styleSheet {MAIN}><numFmts count="1"><numFmt numFmtId="164" formatCode="&quot;{mark("format")}&quot;"/>'
            "</numFmts><fonts><font/></fonts><fills><fill><patternFill/></fill></fills><borders><border/></borders>"
            "<cellStyleXfs><xf/></cellStyleXfs><cellXfs><xf/></cellXfs>"
            '<cellStyles><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
        ),
        "xl/comments1.xml": (
            f"{SML}.comments+xml",
            f"<comments {MAIN}><authors><author>{mark('noteauthor')}</author></authors><commentList>"
            f'<comment ref="A1" authorId="0"><text><r><t>{mark("note")}</t></r><r><t> seen</t></r></text></comment>'
            "</commentList></comments>",
        ),
        "xl/threadedComments/threadedComment1.xml": (
            "application/vnd.ms-excel.threadedcomments+xml",
            f'<ThreadedComments xmlns="x"><threadedComment ref="A1" dT="2024-01-01" personId="1"><text>{mark("thread")}'
            "</text></threadedComment></ThreadedComments>",
        ),
        "xl/persons/person.xml": (
            "application/vnd.ms-excel.person+xml",
            f'<personList xmlns="x"><person displayName="{mark("person")}" id="1" userId="{mark("person")}"/>'
            "</personList>",
        ),
        "xl/tables/table1.xml": (
            f"{SML}.table+xml",
            f'<table {MAIN} id="1" name="{mark("tablename")}" displayName="{mark("tablename")}" ref="A1:A4">'
            f'<tableColumns count="1"><tableColumn id="1" name="{mark("tablecolumn")}"/></tableColumns></table>',
        ),
        "xl/drawings/drawing1.xml": (
            f"{office}.drawing+xml",
            f'<d:wsDr xmlns:d="{drawing}" xmlns:a="{a}"><d:cNvPr id="1" name="{mark("shapename")}" '
            f'descr="{mark("shapealt")}"/><a:p><a:r><a:t>{mark("drawing")}</a:t></a:r></a:p></d:wsDr>',
        ),
        "xl/charts/chart1.xml": (
            f"{office}.drawingml.chart+xml",
            f'<c:chart xmlns:c="{chart}" xmlns:a="{a}"><a:p><a:r><a:t>{mark("chart")}</a:t></a:r></a:p>'
            f"<c:f>'{mark('sheetname')}'!$A$1</c:f><c:v>{mark('chartcache')}</c:v></c:chart>",
        ),
        "xl/drawings/vmlDrawing1.vml": (
            f"{office}.vmlDrawing",
            f'<xml xmlns:v="urn:schemas-microsoft-com:vml"><v:shape alt="{mark("vml")}"><div>{mark("vml")}</div>'
            "</v:shape></xml>",
        ),
        "xl/pivotCache/pivotCacheDefinition1.xml": (f"{SML}.pivotCacheDefinition+xml", f"<a>{mark('pivotcache')}</a>"),
        "xl/pivotTables/pivotTable1.xml": (f"{SML}.pivotTable+xml", f"<a>{mark('pivot')}</a>"),
        "xl/externalLinks/externalLink1.xml": (f"{SML}.externalLink+xml", f"<a>{mark('outside')}</a>"),
        "xl/connections.xml": (f"{SML}.connections+xml", f"<a>{mark('connection')}</a>"),
        "xl/embeddings/oleObject1.bin": (f"{office}.oleObject", mark("object")),
        "xl/printerSettings/printerSettings1.bin": (f"{SML}.printerSettings", mark("printer").encode("utf-16-le")),
        "xl/vbaProject.bin": ("application/vnd.ms-office.vbaProject", mark("calcmacro")),
        "docProps/core.xml": (
            "application/vnd.openxmlformats-package.core-properties+xml",
            f"<a>{mark('creator')}</a>",
        ),
        "docProps/custom.xml": (f"{office}.custom-properties+xml", f"<a>{mark('custom')}</a>"),
    }
    links = {
        "": [
            ("r1", "officeDocument", "xl/workbook.xml"),
            ("r2", f"{PACKAGE}/metadata/core-properties", "docProps/core.xml"),
            ("r3", "custom-properties", "docProps/custom.xml"),
        ],
        "xl/workbook.xml": [
            ("rSheet1", "worksheet", "worksheets/sheet1.xml"),
            ("rSheet2", "worksheet", "/xl/worksheets/sheet2.xml"),
            ("rStrings", "sharedStrings", "sharedStrings.xml"),
            ("rStyles", "styles", "styles.xml"),
            ("rPerson", "person", "persons/person.xml"),
            ("rOutside", "externalLink", "externalLinks/externalLink1.xml"),
            ("rCache", "pivotCacheDefinition", "pivotCache/pivotCacheDefinition1.xml"),
            ("rConnections", "connections", "connections.xml"),
            ("rMacro", "vbaProject", "vbaProject.bin"),
        ],
        "xl/worksheets/sheet1.xml": [
            ("rLink", "hyperlink", f"https://example.org/{mark('linkto')}"),
            ("rPrinter", "printerSettings", "../printerSettings/printerSettings1.bin"),
            ("rDrawing", "drawing", "../drawings/drawing1.xml"),
            ("rVml", "vmlDrawing", "../drawings/vmlDrawing1.vml"),
            ("rObject", "oleObject", "../embeddings/oleObject1.bin"),
            ("rTable", "table", "../tables/table1.xml"),
            ("rComments", "comments", "../comments1.xml"),
            ("rThread", "threadedComment", "../threadedComments/threadedComment1.xml"),
            ("rPivot", "pivotTable", "../pivotTables/pivotTable1.xml"),
        ],
        "xl/drawings/drawing1.xml": [("rChart", "chart", "../charts/chart1.xml")],
        "xl/externalLinks/externalLink1.xml": [("r1", "externalLinkPath", f"file:///C:/{mark('outside')}.xlsx")],
    }
    return package(parts, links)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Rewritten:
    return rewritten(tmp_path_factory.mktemp("excel"), "xlsx", book())


@pytest.mark.requirement("X-05")
@pytest.mark.parametrize("place", PLACES)
def test_every_hiding_place(place: str, files: Rewritten) -> None:
    assert_gone(place, files, {"rich": "llrichfeather", "inline": "inlinefeather"})


def test_nothing_is_left_at_all(files: Rewritten) -> None:
    assert found_in_zip(files[1]) == set()


def test_an_independent_reader_sees_the_rest(files: Rewritten) -> None:
    with_formulas, values = (openpyxl.load_workbook(io.BytesIO(files[1]), data_only=one) for one in (False, True))
    assert with_formulas.sheetnames == ["People", "Sheet 1"]
    assert with_formulas["Sheet 1"].sheet_state == "veryHidden"
    shown = {
        cell.coordinate: cell.value for row in values["People"].iter_rows() for cell in row if cell.value is not None
    }
    assert shown == {
        "A1": "name", "B1": "count", "C1": "phone", "A2": "Dear [PERSON] ", "B2": 42, "C2": "[PERSON]",
        "A3": "in a [PERSON] [PERSON] row", "B3": "[PERSON]", "C3": "[PERSON]", "A4": "[PERSON] x", "B4": 43,
        "C4": "from outside", "D4": 5, "E4": 8,
    }  # fmt: skip
    formulas = with_formulas["People"]
    assert formulas["A4"].value == '=A2&"[PERSON]"'
    assert formulas["B4"].value == "=SUM(B2:B3)"
    assert formulas["D4"].value == "='Sheet 1'!A1+name_1"
    assert (formulas["C4"].value, formulas["E4"].value) == ("from outside", 8)
    assert formulas.oddHeader.right.text == "Page &P"
    assert formulas.page_setup.orientation == "landscape"
    assert formulas.row_dimensions[3].hidden
    assert set(with_formulas.defined_names) == {"name_1", "Plain"}
    assert formulas["A1"].comment.text.endswith("[PERSON] seen")


def test_places_and_account(files: Rewritten) -> None:
    account = files[2]
    places = {entry.place for entry in account.cleaned}
    assert {"People!A2", "People!C2", "Sheet 1!A1", "shared string without a cell", "comments1"} <= places
    removed = {entry.what for entry in account.removed}
    assert {"pivotCacheDefinition", "externalLink", "connections", "oleObject", "vbaProject", "formula"} <= removed
    assert "feather" not in str(account.to_dict())


def test_scanning_sees_hidden_places(files: Rewritten, tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(files[0])
    pieces = list(documents.open(path).texts(path))
    seen = set(MARK.findall("\n".join(piece.text for piece in pieces)))
    for place in (
        "shared",
        "rich",
        "inline",
        "cached",
        "hiddensheet",
        "sheetname",
        "note",
        "noteauthor",
        "creator",
        "list",
    ):
        assert mark(place) in seen, place
    assert ("People!C2", NUMBER, "phone") in [(piece.place, piece.text, piece.label) for piece in pieces]


def test_a_workbook_of_another_writer(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    made = openpyxl.Workbook()
    made.active.append(["name", "when", "amount"])
    made.active.append([f"{mark('a')} jr", "2024-01-01", 123456.5])
    made.properties.creator = mark("author")
    made.save(path)
    documents.open(path).rewrite(path, path, scrub)
    rows = list(openpyxl.load_workbook(path).active.iter_rows(values_only=True))
    assert rows == [("name", "when", "amount"), ("[PERSON] jr", "2024-01-01", 123456.5)]
    assert found_in_zip(path.read_bytes()) == set()


def test_cleaning_twice_changes_nothing(files: Rewritten, tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(files[1])
    documents.open(path).rewrite(path, path, scrub)
    assert parts_of(path.read_bytes()) == parts_of(files[1])


@pytest.mark.parametrize(
    ("formula", "new"),
    [
        ('IF(A1="x","a ""b""",2)', 'IF(A1="x","a ""b""",2)'),
        ("Old!A1+'It''s'!B2+Older!C3", "'Sheet 1'!A1+'Sheet 2'!B2+Older!C3"),
        ("Rate*2+Rates+Rate(1)+Plain.Rate", "name_1*2+Rates+Rate(1)+Plain.Rate"),
        ('"Old!A1"&Rate', '"Old!A1"&name_1'),
        ("[2]Other!A1", None),
        (f"A1+{NUMBER}", None),
    ],
)
def test_formulas(formula: str, new: str | None) -> None:
    renamed = RenamedReferences({"Old": "Sheet 1", "It's": "Sheet 2"}, {"Rate": "name_1"})
    assert cleaned(formula, "x", EditRecorder(scrub), renamed) == new


def test_a_word_file_is_no_workbook(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    path.write_bytes(
        package({"word/document.xml": (kind, "<a/>")}, {"": [("r1", "officeDocument", "word/document.xml")]})
    )
    with pytest.raises(SourceError, match="not a whole Excel file"):
        documents.open(path).rewrite(path, path, scrub)
