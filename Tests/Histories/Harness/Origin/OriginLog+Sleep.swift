extension OriginLog {
    /// Changes what was recorded since `earlier`: it came later, or not at all.
    /// - Parameter time: when it came; nil: it did not.
    mutating func delay(since earlier: OriginLog, until time: Int?) {
        guard let time else {
            (reloads, attempts, backupAttempts) = (earlier.reloads, earlier.attempts, earlier.backupAttempts)
            (audioAttempts, subtitleAttempts) = (earlier.audioAttempts, earlier.subtitleAttempts)
            initSections = earlier.initSections
            return
        }
        reloads =
            earlier.reloads
            + reloads.dropFirst(earlier.reloads.count).map {
                Reload(at: max($0.at, time), listed: $0.listed, hasEnded: $0.hasEnded, era: $0.era)
            }
        attempts = Self.delayed(attempts, since: earlier.attempts, until: time)
        backupAttempts = Self.delayed(backupAttempts, since: earlier.backupAttempts, until: time)
        subtitleAttempts = Self.delayed(subtitleAttempts, since: earlier.subtitleAttempts, until: time)
        initSections =
            earlier.initSections
            + initSections.dropFirst(earlier.initSections.count).map {
                InitSection(name: $0.name, era: $0.era, variant: $0.variant, at: max($0.at, time))
            }
        for (rendition, own) in audioAttempts {
            audioAttempts[rendition] = Self.delayed(own, since: earlier.audioAttempts[rendition] ?? [], until: time)
        }
    }

    private static func delayed(_ attempts: [Attempt], since earlier: [Attempt], until time: Int) -> [Attempt] {
        earlier
            + attempts.dropFirst(earlier.count).map {
                Attempt(
                    segment: $0.segment, askedAt: $0.askedAt, answeredAt: max($0.answeredAt, time), outcome: $0.outcome,
                    era: $0.era, variant: $0.variant)
            }
    }
}
