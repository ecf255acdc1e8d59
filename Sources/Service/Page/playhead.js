// Watches whether the picture moves, and takes the playhead over gaps.

const STALL = 500; // milliseconds without a new picture

export class Playhead {
  constructor(video) { this.video = video; }

  /** Milliseconds for which the picture has stood though it should move. */
  get stalledFor() { return this.stood && !this.video.paused ? performance.now() - this.stood.since : 0; }

  /** Looks at the picture. Where it stands because a gap is listed there, it goes on after the gap. */
  check(isSeeking, skips) {
    const { video } = this, time = video.currentTime;
    if (video.paused || video.seeking || isSeeking || this.stood?.at !== time) {
      this.stood = { at: time, since: performance.now() };
    }
    if (!skips || this.stalledFor < STALL || video.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA) return;
    // A browser stops up to a picture before the end of what it has, and a picture may take a second.
    const ranges = video.buffered;
    for (let i = 0; i < ranges.length; i++) {
      if (ranges.start(i) > time) return void (video.currentTime = ranges.start(i) + 0.01);
    }
  }
}
