import Media
import Playlist
import Support

extension DateRange {
    /// A splice command as HLS signals it (RFC 8216 §4.3.2.7.1): by what its section does.
    init(_ event: DASHManifest.SpliceEvent, at date: ProgramDateTime) {
        self.init(id: "dash-\(event.id.filter { $0 != "\"" && !$0.isNewline })")
        startDate = date
        let kinds = ((try? SpliceInfoSection(event.section))?.cues ?? []).map(\.kind)
        let begins = kinds.contains { if case .out = $0 { true } else { false } }
        let ends = kinds.contains { if case .in = $0 { true } else { false } }
        self[splice: begins ? .out : ends ? .in : .command] = event.section
        if begins { plannedDuration = event.duration }
    }
}
