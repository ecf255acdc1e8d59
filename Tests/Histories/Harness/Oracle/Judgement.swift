/// What is wrong with the publication of a history.
struct Finding: Hashable, CustomStringConvertible {
    enum Rule: String, CaseIterable {
        case playlist, number, bytes, clock, duration, initialization, frame, order, lost, missing, audio, subtitle
        case date, standstill, latency, discontinuity, marker, end, count, archive, retention, growth, crash
    }

    let rule: Rule
    /// Milliseconds since the channel began.
    let at: Int
    let text: String

    var description: String { "\(Double(at) / 1000) s, \(rule.rawValue): \(text)" }
}

struct Judgement {
    var findings: [Finding] = []
    var segments = 0
    var frames = 0
}
