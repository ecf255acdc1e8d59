import LiveRing
import Mux

extension TransportStreamStore {
    /// The transport stream of the slate in the place of a published segment, and the entry that it is made of.
    func segment(
        inPlaceOf entry: RingEntry, in snapshot: RingSnapshot, from slate: BreakSlate
    ) async throws(TransportStreamError) -> (segment: TransportSegment, entry: RingEntry) {
        guard let record = slate.record(for: entry) else { throw .noMedia }
        return (try await segment(of: record, in: snapshot) { slate.segment(for: entry) }, record)
    }
}

extension BreakSlate {
    /// The record of the transport stream in the place of a published one.
    func record(for entry: RingEntry) -> RingEntry? {
        guard let files else { return nil }
        var record = files.replacement(of: entry)
        guard let point = entry.transportStream, let state = TransportStreamState(point) else { return record }
        let next = state.followed(by: record.audioConfiguration, initialization: files.initialization.name)
        record.transportStream?.parameters = next.text
        record.transportStream?.privateData = nil
        return record
    }
}
