import Playlist

/// Breaks, told of by cue tags and by splice commands, as date ranges.
extension MarkTimeline {
    /// The cue tags of one segment, which begins at `date`.
    mutating func read(_ cues: [CueMark], at date: ProgramDateTime) {
        // A tag that only carries the section stands beside the one that says what it is for.
        let section = cues.lazy.compactMap(\.section).first
        for cue in cues {
            switch cue.meaning {
            case .out(let duration): beginBreak(at: date, planned: duration, section: section)
            case .continues(let elapsed, let duration):
                guard !told.isInBreak(at: date) else { continue }
                let start = date.moved(by: elapsed.map { -$0.milliseconds } ?? 0)
                beginBreak(at: start, planned: duration, section: section)
            case .in: endBreak(at: date, section: section)
            case .aside: continue
            }
        }
    }

    private mutating func beginBreak(at date: ProgramDateTime, planned: Duration?, section: [UInt8]?) {
        if let index = told.breakBeginning(near: date) {
            if RangeName.isOurs(told[index].range.id) { tellMore(index, planned: planned, section: section) }
            return
        }
        // An end that the upstream did not tell.
        if let open = told.openCueBreak { told.end(open, at: date) }
        var range = DateRange(id: RangeName.cue(at: date))
        range.startDate = date
        range.plannedDuration = planned
        range[splice: .out] = section
        told.append(ToldRange(range, start: date))
    }

    private mutating func tellMore(_ index: Int, planned: Duration?, section: [UInt8]?) {
        var more = DateRange(id: told[index].range.id)
        if told[index].range.plannedDuration == nil { more.plannedDuration = planned }
        if told[index].range[splice: .out] == nil { more[splice: .out] = section }
        _ = told.add(more, to: index)
    }

    private mutating func endBreak(at date: ProgramDateTime, section: [UInt8]?) {
        if let index = told.openCueBreak {
            told.end(index, at: date, section: section)
        } else if !told.isInBreak(at: date.moved(by: -ToldRange.tolerance)) {
            counts.unpaired += 1
        }
    }
}

/// Splice commands.
extension MarkTimeline {
    mutating func read(_ splice: SpliceMark) {
        switch splice.kind {
        case .out(let returnsByItself): begin(splice, returnsByItself: returnsByItself)
        case .in(let ofAnyEvent): end(splice, ofAnyEvent: ofAnyEvent)
        case .command: tell(splice, as: .command)
        case .cancelled:
            guard let index = told.openSplice(splice.eventID) else { return }
            told.end(index, at: told[index].start)
        }
    }

    private mutating func begin(_ splice: SpliceMark, returnsByItself: Bool) {
        if told.splice(splice.eventID, near: splice.date) != nil { return }  // it is sent several times
        if let index = told.breakBeginning(near: splice.date), !RangeName.isSplice(told[index].range.id) {
            if RangeName.isOurs(told[index].range.id) {
                tellMore(index, planned: splice.duration, section: splice.section)
            }
            return
        }
        tell(splice, as: .out)
        guard returnsByItself, let duration = splice.duration else { return }
        told.setReturn(at: splice.date.advanced(by: duration))
    }

    /// Without a beginning it is a command like any other: what goes in has to have gone out.
    private mutating func end(_ splice: SpliceMark, ofAnyEvent: Bool) {
        if let index = told.openSplice(splice.eventID) ?? (ofAnyEvent ? told.onlyOpenSplice : nil) {
            told.end(index, at: splice.date, section: splice.section)
        } else if !told.hasSpliceEnded(near: splice.date) {
            counts.unpaired += 1
            tell(splice, as: .command)
        }
    }

    private mutating func tell(_ splice: SpliceMark, as attribute: DateRange.SpliceAttribute) {
        guard told.splice(splice.eventID, near: splice.date) == nil else { return }
        var range = DateRange(id: RangeName.splice(splice.eventID, at: splice.date))
        range.startDate = splice.date
        range.plannedDuration = splice.duration
        range[splice: attribute] = splice.section
        told.append(ToldRange(range, start: splice.date))
    }

    /// Breaks that were told to end by themselves before `date`.
    mutating func endWhatReturnsByItself(by date: ProgramDateTime) {
        for index in told.ranges.indices {
            guard told[index].isOpen, let end = told[index].returnsAt, end <= date else { continue }
            told.end(index, at: end)
        }
    }
}

// What is asked of the ranges told.

extension ToldRanges {
    fileprivate func breakBeginning(near date: ProgramDateTime) -> Int? {
        ranges.lastIndex { $0.isBreak && $0.begins(near: date) }
    }

    fileprivate var openCueBreak: Int? { ranges.lastIndex { RangeName.isCue($0.range.id) && $0.isOpen } }

    /// A break whose end is not told is believed in so much longer than was planned.
    private static let longestOverrun: Int64 = 10_000

    fileprivate func isInBreak(at date: ProgramDateTime) -> Bool {
        ranges.contains { told in
            guard told.isBreak, date.milliseconds(since: told.start) > -ToldRange.tolerance else { return false }
            if let end = told.range.end { return end > date }
            guard let planned = told.range.plannedDuration else { return true }
            return told.start.advanced(by: planned).moved(by: Self.longestOverrun) > date
        }
    }

    fileprivate func splice(_ eventID: UInt32?, near date: ProgramDateTime) -> Int? {
        ranges.lastIndex { RangeName.isSplice($0.range.id, eventID) && $0.begins(near: date) }
    }

    fileprivate func openSplice(_ eventID: UInt32?) -> Int? {
        openSplices.last { RangeName.isSplice(ranges[$0].range.id, eventID) }
    }

    /// Equipment exists that gives the way back an event of its own.
    fileprivate var onlyOpenSplice: Int? { openSplices.count == 1 ? openSplices.first : nil }

    private var openSplices: [Int] {
        ranges.indices.filter { RangeName.isSplice(ranges[$0].range.id) && ranges[$0].isBreak && ranges[$0].isOpen }
    }

    fileprivate func hasSpliceEnded(near date: ProgramDateTime) -> Bool {
        ranges.contains { told in
            guard told.isBreak, RangeName.isSplice(told.range.id), let end = told.range.end else { return false }
            return end.milliseconds(since: date).magnitude < ToldRange.tolerance.magnitude
        }
    }

    fileprivate mutating func setReturn(at date: ProgramDateTime) {
        guard !ranges.isEmpty else { return }
        self[ranges.count - 1].returnsAt = date
    }
}

extension Duration {
    /// Rounded down.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
