import Support
import Fetch
import Tracker

/// What exceeds the limits of playlists and of memory every few minutes, and changes nothing of the media.
enum SoakExcess {
    /// Whether limits are exceeded at a time: for 40 s of every 3 minutes.
    static func isReached(at time: Int) -> Bool { time >= 0 && time / 1000 % 180 < 40 }

    /// Lines for the head: comments, a line that is too long, variables, date ranges without a date, and a tag with too
    /// many attributes.
    static let head: String = {
        let comments = (0..<300).map { "# comment \($0)\n" }
        let variables = (0..<300).map { "#EXT-X-DEFINE:NAME=\"v\($0)\",VALUE=\"1\"\n" }
        let ranges = (0..<1200).map { "#EXT-X-DATERANGE:ID=\"excess \($0)\",X-A=\"\($0)\"\n" }
        let attributes = (0..<300).map { "A\($0)=1" }.joined(separator: ",")
        return (comments + variables + ranges).joined() + "#" + String(repeating: "c", count: 70_000) + "\n"
            + "#EXT-X-DATERANGE:ID=\"attributes\",\(attributes)\n"
    }()

    /// Lines after the last URI.
    static let end = String(repeating: "#EXT-X-PROGRAM-DATE-TIME:2026-03-01T00:00:00Z\n", count: 1200)

    /// The answer to a request for a segment that is held until another one was delivered: it is too large for that.
    static func refusal(of request: FetchRequest, at time: Int) -> FetchOutcome? {
        guard isReached(at: time), request.purpose == .segment, request.byteLimit != nil else { return nil }
        return .failure(FetchError(.tooLarge, url: request.url))
    }
}
