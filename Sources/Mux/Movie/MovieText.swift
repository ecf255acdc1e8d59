import Media

/// The tags and the chapters of a movie: `udta` with `meta` as iTunes writes it, and `chpl` as Nero does. ffmpeg, VLC, mpv
/// and Jellyfin read both.
struct MovieText: Equatable, Sendable {
    let tags: [MovieWriter.Tag]
    let chapters: [MovieWriter.Chapter]

    /// `chpl` counts its chapters in a byte.
    private static let mostChapters = 255

    func write(to moov: inout BoxWriter) {
        guard !tags.isEmpty || !chapters.isEmpty else { return }
        moov.box("udta") { udta in
            if !tags.isEmpty { writeTags(to: &udta) }
            guard !chapters.isEmpty else { return }
            udta.fullBox("chpl", version: 1) { chpl in
                let chapters = chapters.prefix(Self.mostChapters)
                chpl.zeros(4)
                chpl.u8(UInt8(chapters.count))
                for chapter in chapters {
                    // 100 ns
                    chpl.u64(UInt64(max(0, chapter.start.count.rescaled(10_000_000, over: Ticks.perSecond))))
                    let name = chapter.title.utf8.prefix(255)
                    chpl.u8(UInt8(name.count))
                    chpl.append(name)
                }
            }
        }
    }

    private func writeTags(to udta: inout BoxWriter) {
        udta.fullBox("meta") { meta in
            meta.fullBox("hdlr") { hdlr in
                hdlr.u32(0)
                hdlr.type("mdir")
                hdlr.type("appl")
                hdlr.zeros(9)
            }
            meta.box("ilst") { ilst in
                for tag in tags {
                    ilst.box(tag.type) { item in
                        item.box("data") { data in
                            data.u32(1)  // UTF-8
                            data.u32(0)
                            data.append(tag.text.utf8)
                        }
                    }
                }
            }
        }
    }
}

extension MovieWriter.Tag {
    fileprivate var type: BoxType {
        switch kind {
        case .title: BoxType(code: 0xA96E_616D)  // ©nam
        case .date: BoxType(code: 0xA964_6179)  // ©day
        case .network: "tvnn"
        }
    }
}
