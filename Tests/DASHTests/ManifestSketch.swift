import Playlist
import Support

@testable import DASH

/// A manifest as text: what differs between the rows of tests, in a frame that all of them share.
struct ManifestSketch {
    /// Attributes of MPD.
    var attributes = "type=\"static\" mediaPresentationDuration=\"PT8S\""
    /// What precedes the periods.
    var head = ""
    var periods: [String]

    static let live = "type=\"dynamic\" availabilityStartTime=\"2026-01-01T00:00:00Z\""
    static let url = "http://o.example/d/live.mpd?token=1"

    var text: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!-- <MPD> in a comment -->
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" \(attributes)>
        \(head)\(periods.joined(separator: "\n"))
        </MPD>
        """
    }

    static func period(_ segments: String) -> String { period("", segments) }

    /// A period with one representation of video.
    static func period(
        _ attributes: String = "", id: String = "p", before: String = "", set: String = "", _ segments: String
    ) -> String {
        """
        <Period id="\(id)" \(attributes)>\(before)<AdaptationSet contentType="video" mimeType="video/mp4">\(set)
        <Representation id="v1" bandwidth="900000" codecs="avc1.64001F" width="1280" height="720">\(segments)
        </Representation></AdaptationSet></Period>
        """
    }

    func parsed() throws(PlaylistError) -> DASHManifest {
        try DASHManifestParser.parse(Array(text.utf8), url: Self.url)
    }
}

extension ProgramDateTime {
    /// Seconds after the availability start time of the sketches.
    static func live(_ seconds: Double) -> ProgramDateTime {
        ProgramDateTime(millisecondsSince1970: 1_767_225_600_000 + Int64(seconds * 1000))
    }
}

extension MediaPlaylist {
    /// Each segment as a line: number, discontinuity, start by date, duration, and the URL without what all have in common.
    var lines: [String] {
        segments.map { segment in
            let start = segment.programDateTime.map {
                " @" + DecimalSeconds.text(.milliseconds($0.milliseconds(since: .live(0))))
            }
            let range = segment.byteRange.map { " \($0.length)@\($0.offset)" } ?? ""
            let url = segment.uri.replacing("http://o.example/d/", with: "")
            return
                "\(segment.mediaSequence)\(segment.isDiscontinuous ? "|" : "")\(segment.isGap ? " gap" : "")\(start ?? "")"
                + " \(DecimalSeconds.text(segment.duration)) \(url)\(range)"
        }
    }
}

extension ManifestFollower {
    /// The main playlist, if nothing else is needed.
    mutating func main(at now: Duration = .zero) -> MediaPlaylist? {
        if case .playlist(let playlist) = listing(of: .main(alternative: 0), at: now) { playlist } else { nil }
    }
}
