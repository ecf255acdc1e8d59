import LiveRing
import Splice

/// What is published while nothing of the channel comes: the slate, or gaps where there is none or it cannot be read.
struct Interlude: Sendable {
    enum Kind: String, Equatable, Sendable { case gap, slate }

    /// What is shown; nil while the channel is.
    private(set) var kind: Kind?
    /// nil: gaps stand in.
    var slate: Slate?
    /// Pieces of the slate given out, over all outages.
    private(set) var slates = 0
    /// The last piece could not be read.
    private var slateFails = false
    /// Time that nothing has stood in for; below zero where a piece of the slate was longer.
    private var owed = Ticks.zero
    private let wallClock: Int64

    /// - Parameter wallClock: milliseconds since 1970, where nothing published has a date.
    init(slate: Slate?, wallClock: Int64) {
        self.slate = slate
        self.wallClock = wallClock
    }

    /// The channel is shown again.
    mutating func end() { kind = nil }

    /// Nothing came for so long: the output goes on all the same.
    mutating func fill(_ duration: Ticks, of publication: inout Publication) async -> [ChannelLine.Event] {
        var events: [ChannelLine.Event] = []
        owed = (kind == nil ? .zero : owed) + min(duration, publication.longestSegment)
        while owed > .zero {
            let last = kind
            let (used, news) = await publishPiece(in: &publication)
            if let kind, kind != last { events.append(.standInBegan(kind)) }
            events += news
            // A piece that lasts no time is none.
            owed = used > .zero ? owed - used : .zero
        }
        return events
    }

    private mutating func publishPiece(
        in publication: inout Publication
    ) async -> (lasting: Ticks, events: [ChannelLine.Event]) {
        var events: [ChannelLine.Event] = []
        do throws(RelayError) {
            let date = publication.datedUntil ?? wallClock
            if let segment = try slate?.next(at: publication.position, date: date) {
                (kind, slateFails) = (.slate, false)
                slates += 1
                if let sound = slate?.newsOfRenewal() { events.append(.slateChanged(sound)) }
                return (segment.duration, await events + publication.publish(segment, from: nil))
            }
        } catch {
            if !slateFails { events.append(.slateFailed(error)) }
            slateFails = true
        }
        kind = .gap
        return (owed, await events + publication.publishGap(lasting: owed))
    }
}
