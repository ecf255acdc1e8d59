"""An upstream with cue tags and outages: a capture served live by `liverelay replay`, changed on its way."""

import pathlib
import sys
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Stream"))
from live import serve


class Upstream:
    """`fails`: an HTTP status for every answer, as in an outage; 0 while all is well."""

    def __init__(self, source):
        self.base, _, self.path = source.partition("/1/")
        self.path, self.fails = "/1/" + self.path, 0
        self.url = serve(self.answer) + self.path

    def answer(self, path):
        if self.fails:
            return self.fails, b"no", "text/plain"
        try:
            with urllib.request.urlopen(self.base + path.partition("?")[0], timeout=10) as answer:
                body, kind = answer.read(), answer.headers.get("Content-Type", "video/mp2t")
        except urllib.error.HTTPError as error:
            return error.code, b"", "text/plain"
        return 200, self.with_cues(body) if body.startswith(b"#EXTM3U") else body, kind

    @staticmethod
    def with_cues(playlist):
        """Adds EXT-X-CUE-OUT and EXT-X-CUE-IN around the segments whose names say that they are ads."""
        lines, tags, before = [], [], None
        for line in playlist.decode().split("\n"):
            if line.startswith(("#EXTINF", "#EXT-X-DISCONTINUITY")) and not line.startswith("#EXT-X-DISCONTINUITY-S"):
                tags.append(line)
                continue
            if line and not line.startswith("#"):
                is_ad = "-ad" in line
                if before is not None and is_ad != before:
                    tags.insert(0, "#EXT-X-CUE-OUT:DURATION=16.0" if is_ad else "#EXT-X-CUE-IN")
                before = is_ad
                lines += tags
                tags = []
            lines.append(line)
        return "\n".join(lines + tags).encode()
