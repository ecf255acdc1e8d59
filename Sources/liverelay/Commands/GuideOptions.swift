import ArgumentParser
import Guide

/// Options for the guide.
struct GuideOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "XMLTV guide to read besides those of the list, as URL or file; repeatable.",
            discussion: "Of two guides that know a channel, the first counts, and these come before the list's.",
            valueName: "guide"))
    var epg: [String] = []

    @Option(help: "Ask for the guides again that often; 0 for never.")
    var epgRefresh = TimeSpan(seconds: 12 * 3600)

    @Flag(name: .customLong("no-epg"), help: "Read no guide.")
    var isOff = false

    /// nil: no guide is read.
    var settings: GuideService.Settings? {
        isOff
            ? nil
            : GuideService.Settings(guides: epg, refresh: epgRefresh.seconds == 0 ? nil : epgRefresh.duration)
    }

    func validate() throws {
        if epgRefresh.seconds != 0, epgRefresh.seconds < 60 {
            throw ValidationError("--epg-refresh has to be 0 or at least 60s.")
        }
    }
}
