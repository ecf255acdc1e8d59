import LiveRing

@testable import Record

extension RecordingCursor {
    /// Takes what there is to take.
    /// - Returns: the segments, and the milliseconds that are lost.
    mutating func takeAll(of snapshot: RingSnapshot) -> (taken: [UInt64], lost: Int64) {
        var (taken, lost): ([UInt64], Int64) = ([], 0)
        for _ in 0..<1000 {
            switch next(in: snapshot) {
            case .append(let entry):
                taken.append(entry.mediaSequence)
                advance(over: entry)
            case .lose(let loss): lost += loss.milliseconds
            case .wait, .finish: return (taken, lost)
            }
        }
        return (taken, lost)
    }
}
