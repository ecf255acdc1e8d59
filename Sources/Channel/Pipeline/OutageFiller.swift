import Export
import LiveRing
import Media
import Splice

/// Fills the media time of an outage with the slate, or with gaps if there is no slate or it cannot be read.
package struct OutageFiller: Sendable {
    package enum Kind: Equatable, Sendable { case gap, slate }

    /// nil: gaps are published.
    var slate: Slate?
    /// Slate segments published over all outages.
    private(set) var slateSegments = 0
    /// Whether the last chunk of the slate could not be read.
    private var isSlateFailing = false
    /// Media time that is not filled yet; negative if a slate segment was longer.
    private var pending = Ticks.zero
    private let wallClock: Int64

    /// - Parameter wallClock: milliseconds since 1970; the slate's date if nothing published has one.
    init(slate: Slate?, wallClock: Int64) {
        self.slate = slate
        self.wallClock = wallClock
    }

    /// Publishes filler for `duration` of an outage.
    /// - Parameter last: the kind of filler published last; nil if the outage begins.
    /// - Returns: the kind of filler published last; nil if the outage begins and nothing was published.
    mutating func fill(
        _ duration: Ticks, after last: Kind?, in publisher: inout ChannelPublisher
    ) async -> (kind: Kind?, events: [ChannelPipeline.Event]) {
        var (kind, events) = (last, [ChannelPipeline.Event]())
        pending = (last == nil ? .zero : pending) + min(duration, publisher.longestSegment)
        while pending > .zero {
            let filler = await publishFiller(in: &publisher)
            if filler.kind != kind { events.append(.fillerBegan(filler.kind)) }
            kind = filler.kind
            events += filler.events
            // A segment without a duration would repeat forever.
            pending = filler.duration > .zero ? pending - filler.duration : .zero
        }
        return (kind, events)
    }

    private mutating func publishFiller(
        in publisher: inout ChannelPublisher
    ) async -> (kind: Kind, duration: Ticks, events: [ChannelPipeline.Event]) {
        var events: [ChannelPipeline.Event] = []
        do throws(SlateError) {
            let date = publisher.datedUntil ?? wallClock
            if let segment = try slate?.next(
                at: publisher.position, date: date, isAAC: publisher.transportStream.isAAC)
            {
                isSlateFailing = false
                slateSegments += 1
                if let audio = slate?.dequeueReload() { events.append(.slateReloaded(audio)) }
                return (.slate, segment.duration, await events + publisher.publish(segment, from: nil))
            }
        } catch {
            if !isSlateFailing { events.append(.slateFailed(error)) }
            isSlateFailing = true
        }
        return (.gap, pending, await events + publisher.publishGap(lasting: pending))
    }
}
