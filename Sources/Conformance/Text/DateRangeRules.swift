import Playlist
import Support

/// Rules 17 and 19 over the text of one playlist.
enum DateRangeRules {
    static func judge(_ playlist: inout ScannedPlaylist) {
        var known: [String: DateRange] = [:]
        for scanned in playlist.dateRanges {
            playlist.judged.insert(.dateRanges)
            let subject = "the range “\(scanned.range.id)”"
            var merged = scanned.range
            if let before = known[scanned.range.id] {
                for name in merged.add(before) {
                    playlist.add(.dateRanges, "conflict", line: scanned.line, "\(subject) has two values of \(name)")
                }
            }
            known[scanned.range.id] = merged
            for (cause, message) in problems(of: scanned.range, merged: merged) {
                playlist.add(.dateRanges, cause, line: scanned.line, "\(subject) \(message)")
            }
            if scanned.range.isInterstitial { judge(interstitial: scanned, of: &playlist) }
        }
    }

    private static func problems(of range: DateRange, merged: DateRange) -> [(String, String)] {
        var found: [(String, String)] = []
        if merged.attributes["START-DATE"] == nil {
            found.append(("no-start", "has no START-DATE"))
        }
        for name in ["START-DATE", "END-DATE"] {
            if let text = range.attributes[name], ProgramDateTime(parsing: text) == nil {
                found.append(("malformed", "has a \(name) that is no date"))
            }
        }
        for name in ["DURATION", "PLANNED-DURATION"] {
            if let text = range.attributes[name], DecimalSeconds.duration(text) == nil {
                found.append(("malformed", "has a \(name) that is no number of seconds"))
            }
        }
        if let start = merged.startDate, let end = merged.endDate {
            if end < start { found.append(("ends-early", "has an END-DATE before its START-DATE")) }
            if let duration = merged.duration,
                (Duration.milliseconds(end.milliseconds(since: start)) - duration).magnitude > .seconds(1)
            {
                found.append(("end-and-duration", "has an END-DATE that is not START-DATE plus DURATION"))
            }
        }
        if let text = range.attributes["END-ON-NEXT"] {
            if text != "YES" { found.append(("malformed", "has an END-ON-NEXT other than YES")) }
            if merged.className == nil { found.append(("end-on-next", "has END-ON-NEXT and no CLASS")) }
            if merged.attributes["DURATION"] != nil || merged.attributes["END-DATE"] != nil {
                found.append(("end-on-next", "has END-ON-NEXT and an end"))
            }
        }
        return found
    }

    private static func judge(interstitial scanned: ScannedDateRange, of playlist: inout ScannedPlaylist) {
        playlist.judged.insert(.interstitials)
        let (asset, list) = (scanned.range.attributes["X-ASSET-URI"], scanned.range.attributes["X-ASSET-LIST"])
        var problems: [(String, String)] = []
        if asset == nil, list == nil { problems.append(("no-asset", "has neither X-ASSET-URI nor X-ASSET-LIST")) }
        if asset != nil, list != nil { problems.append(("two-assets", "has both X-ASSET-URI and X-ASSET-LIST")) }
        if let asset, URIReference.scheme(of: asset) == nil {
            problems.append(("relative", "has an X-ASSET-URI that is not absolute"))
        }
        for (cause, message) in problems {
            playlist.add(
                .interstitials, cause, line: scanned.line, "the interstitial “\(scanned.range.id)” \(message)")
        }
    }
}
