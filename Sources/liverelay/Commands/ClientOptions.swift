import ArgumentParser

/// Options for the number of clients.
struct ClientOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Connections of clients at once.",
            discussion: """
                A connection beyond it gets the status 503, unless another one never sent a request and is closed for it. \
                By default as many as the limit on open files permits.
                """, valueName: "number"))
    var maxClients: Int?

    @Option(help: ArgumentHelp("The same for one address; half of the other by default.", valueName: "number"))
    var maxClientsPerAddress: Int?

    func validate() throws {
        if let maxClients, maxClients < 1 { throw ValidationError("--max-clients has to be at least 1.") }
        if let maxClientsPerAddress, maxClientsPerAddress < 1 {
            throw ValidationError("--max-clients-per-address has to be at least 1.")
        }
    }

    /// - Parameter descriptors: that the process may open.
    func limits(descriptors: Int = DescriptorLimit.raise()) -> OpenConnections.Limits {
        let total = min(maxClients ?? .max, DescriptorLimit.clients(of: descriptors))
        return OpenConnections.Limits(total: total, perAddress: min(maxClientsPerAddress ?? max(1, total / 2), total))
    }
}
