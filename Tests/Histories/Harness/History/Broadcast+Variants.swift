extension MediaFormat {
    /// The format of the same video in the size of another variant; 0 is the largest.
    func resized(for variant: Int) -> MediaFormat {
        var format = self
        (format.width, format.height) = (width - 2 * variant, height - variant)
        return format
    }
}

extension TransportMultiplex.Part {
    func resized(for variant: Int) -> TransportMultiplex.Part {
        var part = self
        part.format = format.resized(for: variant)
        return part
    }
}

extension History {
    /// Variants in the multivariant playlist. A player takes the first one.
    var variantCount: Int { all(.variants).first.map { $0.pick(2...3) } ?? 1 }
}
