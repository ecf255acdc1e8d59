import LiveRing
import Media
import Splice

/// What is published while nothing of the channel comes: the slate, or gaps where there is none or it cannot be read.
struct OutageFiller: Sendable {
    enum Kind: String, Equatable, Sendable { case gap, slate }

    /// What is shown; nil while the channel is.
    private(set) var kind: Kind?
    /// nil: gaps stand in.
    var slate: Slate?
    /// Pieces of the slate given out, over all outages.
    private(set) var slateSegments = 0
    /// The last piece could not be read.
    private var isSlateFailing = false
    /// Time that nothing has stood in for; below zero where a piece of the slate was longer.
    private var pending = Ticks.zero
    private let wallClock: Int64

    /// - Parameter wallClock: milliseconds since 1970, where nothing published has a date.
    init(slate: Slate?, wallClock: Int64) {
        self.slate = slate
        self.wallClock = wallClock
    }

    /// The channel is shown again.
    mutating func end() { kind = nil }

    /// Nothing came for so long: the output goes on all the same.
    mutating func fill(_ duration: Ticks, in publication: inout ChannelPublisher) async -> [ChannelPipeline.Event] {
        var events: [ChannelPipeline.Event] = []
        pending = (kind == nil ? .zero : pending) + min(duration, publication.longestSegment)
        while pending > .zero {
            let last = kind
            let (used, news) = await publishFiller(in: &publication)
            if let kind, kind != last { events.append(.fillerBegan(kind)) }
            events += news
            // A piece that lasts no time is none.
            pending = used > .zero ? pending - used : .zero
        }
        return events
    }

    private mutating func publishFiller(
        in publication: inout ChannelPublisher
    ) async -> (lasting: Ticks, events: [ChannelPipeline.Event]) {
        var events: [ChannelPipeline.Event] = []
        do throws(RelayError) {
            let date = publication.datedUntil ?? wallClock
            if let segment = try slate?.next(at: publication.position, date: date) {
                (kind, isSlateFailing) = (.slate, false)
                slateSegments += 1
                if let sound = slate?.dequeueReload() { events.append(.slateReloaded(sound)) }
                return (segment.duration, await events + publication.publish(segment, from: nil))
            }
        } catch {
            if !isSlateFailing { events.append(.slateFailed(error)) }
            isSlateFailing = true
        }
        kind = .gap
        return (pending, await events + publication.publishGap(lasting: pending))
    }
}
