import Support

/// An object that states which process writes under a name: `writers/<writer>`.
///
/// A copy of a machine's spool contains the same writer's name. Each process puts a claim when it begins, and checks it
/// before it puts an index: if another process has put a newer claim, both use the same name.
struct WriterClaim: Equatable, Sendable {
    static let folder = "writers/"
    /// The longest claim that is read.
    private static let longest = 1024

    /// Differs for every process.
    let run: String
    /// How long the process keeps objects, in seconds; nil: it removes none.
    let retention: Int64?
    /// When the claim was put, by the clock of its process.
    let date: ProgramDateTime

    static func key(of writer: String) -> String { "\(folder)\(writer)" }

    var text: [UInt8] {
        Array("run \(run)\nretention \(retention.map { String($0) } ?? "none")\ndate \(date.text)\n".utf8)
    }

    init(run: String, retention: Int64?, date: ProgramDateTime) {
        (self.run, self.retention, self.date) = (run, retention, date)
    }

    /// nil if the text is no claim.
    init?(_ text: [UInt8]) {
        guard text.count <= Self.longest else { return nil }
        var values: [Substring: Substring] = [:]
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            if words.count == 2 { values[words[0]] = words[1] }
        }
        guard let run = values["run"], let date = values["date"].flatMap({ ProgramDateTime(parsing: String($0)) })
        else {
            return nil
        }
        self.init(run: String(run), retention: values["retention"].flatMap { Int64($0) }, date: date)
    }
}
