import ArgumentParser

/// Options for events that other programs want to know of.
struct EventOptions: ParsableArguments {
    @Option(
        name: .customLong("event-webhook"),
        help: ArgumentHelp(
            "URL that gets each event as a POST with JSON; repeatable.",
            discussion: """
                Events are sent one after the other. One that is not accepted is sent again after 1, 2, 4, … s, 8 times \
                at most. See docs/events.md.
                """, valueName: "url"))
    var webhooks: [String] = []

    @Option(
        name: .customLong("event-command"),
        help: ArgumentHelp(
            "Command of the shell that is run for each event; repeatable.",
            discussion: """
                It reads the event as JSON; LIVERELAY_EVENT and LIVERELAY_CHANNEL have its type and channel. At most 4 \
                run at once, for 10 s each.
                """, valueName: "command"))
    var commands: [String] = []
}
