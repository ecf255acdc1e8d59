import Testing

@testable import ChannelList

private let old = "#EXTINF:-1,A\nhttp://h/a?t=1\n#EXTINF:-1 group-title=\"G\",B\nhttp://h/b\n#EXTINF:-1,C\nhttp://h/c\n"

private let rows: [(when: String, new: String, says: [String])] = [
    ("nothing", old, []),
    ("a channel more", old + "#EXTINF:-1,D\nhttp://h/d", ["added d"]),
    ("a channel less", "#EXTINF:-1,A\nhttp://h/a?t=1\n#EXTINF:-1,C\nhttp://h/c\n", ["removed b"]),
    ("another URL", old.replacing("http://h/c", with: "http://h/x"), ["changed c sources"]),
    ("a fresh token", old.replacing("t=1", with: "t=2"), ["changed a sources"]),
    ("a header", old.replacing("http://h/c", with: "http://h/c|User-Agent=B"), ["changed c sources"]),
    ("a backup", old + "#http://h/backup", ["changed c sources"]),
    ("another group", old.replacing("\"G\"", with: "\"H\""), ["changed b"]),
    ("another name", old.replacing(",C", with: ",D"), ["added d", "removed c"]),
    (
        "another order",
        "#EXTINF:-1 group-title=\"G\",B\nhttp://h/b\n#EXTINF:-1,A\nhttp://h/a?t=1\n#EXTINF:-1,C\nhttp://h/c\n",
        []
    ),
    ("a second one of the name before the first", "#EXTINF:-1,A\nhttp://h/new\n" + old, ["added a-2"]),
]

@Test("Differences between lists", arguments: rows)
func difference(when: String, new: String, says: [String]) throws {
    let before = try M3UChannelListParser.parse(Array(old.utf8)).channels
    let after = try M3UChannelListParser.parse(Array(new.utf8), keeping: before).channels
    let difference = ChannelListDifference(from: before, to: after)
    let changes = difference.changed.map { change in
        let kind = change.affectsSources ? " sources" : ""
        return "changed \(change.before.slug)\(kind)"
    }
    let found =
        difference.added.map { "added \($0.slug)" } + difference.removed.map { "removed \($0.slug)" } + changes
    #expect(found == says, "\(when)")
    #expect(difference.unchanged.count + difference.changed.count + difference.added.count == after.count)
}
