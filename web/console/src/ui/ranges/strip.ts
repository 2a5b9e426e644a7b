// Lays rows of unknown height along a scrolling box.

/** The tallest content that a strip makes, in pixels: browsers cap an element, Chromium at 33,554,428. */
export const tallest = 8_000_000;

const near = 400; // rows on either side whose measured heights are remembered
const hurry = 3; // a scroll by more views than this is a jump, not a walk
const drifted = 12; // views between where a row is and where it belongs, from which on it is brought back at rest

/** Rows [from, to) are drawn, the first of them at `top` pixels of the content. */
export type Drawn = { from: number; to: number; top: number };

/** Where in the view a row is brought. */
export type Align = "start" | "middle" | "end";

type Aim = { row: number; align: Align; into: number };

/**
 * Which rows a box shows, and where. The row at the top of the view is the anchor: rows above and below are laid out
 * from it, so that what is measured late moves nothing that is in view. Short scrolls walk from row to row exactly,
 * whatever their heights; a jump takes the same share of the rows as of the scroll range. So a million rows fit into a
 * box that no browser caps. Where walking has moved a row far from its share of the range, `rest` brings both back
 * together without moving anything in view.
 *
 * `scroll` and `length` are what the box's scrollTop and its content's height are to be, in pixels.
 */
export class Strip {
  scroll = 0;
  private total = 0;
  private view = 0;
  private index = 0; // the anchor
  private top = 0; // its place in the content
  private aim: Aim | null = null;
  private readonly heights = new Map<number, number>();

  /** estimate: the usual height of a row, in pixels, until it is measured. over: how much is drawn out of view. */
  constructor(
    private readonly estimate: number,
    private readonly over = 400,
  ) {}

  /** How high the content is. Exact where its end is drawn. */
  get length(): number {
    const { to, bottom } = this.span();
    if (to >= this.total) return Math.max(bottom, this.view);
    return Math.max(this.whole, bottom + this.view);
  }

  /** Which rows are drawn: those in view, and some around it. */
  get drawn(): Drawn {
    const { from, to, top } = this.span();
    return { from, to, top };
  }

  /** How high the view is. */
  get height(): number {
    return this.view;
  }

  /** The row at the top of the view. */
  get first(): number {
    return this.index;
  }

  /** How many pixels of that row are above the view. */
  get into(): number {
    return Math.max(0, Math.round(this.scroll - this.top));
  }

  /** The last row that is wholly in view; the first if none is. */
  get last(): number {
    let [i, bottom] = [this.index, this.top + this.heightOf(this.index)];
    while (i + 1 < this.total && bottom + this.heightOf(i + 1) <= this.scroll + this.view + 1)
      bottom += this.heightOf(++i);
    return i;
  }

  /** Whether the end is in view, give or take a few pixels. */
  get atEnd(): boolean {
    const { to, bottom } = this.span();
    return to >= this.total && bottom <= this.scroll + this.view + 24;
  }

  /** Tells the number of rows and the height of the view. */
  resize(total: number, view: number): void {
    this.total = total;
    this.view = view;
    if (this.index >= total) this.goTo(total - 1, "end");
    this.fit();
  }

  /** Tells a row's height. Gives whether it is news; then `fit` is to be called once all are told. */
  measured(row: number, height: number): boolean {
    if (Math.abs((this.heights.get(row) ?? -1) - height) < 0.5) return false;
    this.heights.set(row, height);
    return true;
  }

  /** Forgets all heights: the box has another width. */
  forget(): void {
    this.heights.clear();
  }

  /** Follows the box, which has been scrolled. */
  scrolled(to: number): void {
    const by = to - this.scroll;
    if (Math.abs(by) < 1) return; // what it was told itself
    this.aim = null;
    const range = Math.max(1, this.length - this.view);
    this.scroll = to;
    if (Math.abs(by) > hurry * Math.max(this.view, 1)) this.jump(range);
    this.fit();
  }

  /**
   * Brings a row into view, and keeps it there while heights become known, until the box is scrolled. into: how many
   * pixels of it are above the view, if it is brought to its start.
   */
  goTo(row: number, align: Align, into = 0): void {
    this.aim = { row: Math.min(Math.max(0, row), Math.max(0, this.total - 1)), align, into };
    this.scroll = this.share(this.aim.row);
    this.fit();
  }

  /** Brings back what walking has moved far from its share of the range. Gives whether there was anything. */
  rest(): boolean {
    const { from, to } = this.span();
    if (from === 0 || to >= this.total) return false; // the ends are exact
    const by = this.share(this.index) - this.top;
    if (Math.abs(by) < drifted * this.view) return false;
    this.shift(by);
    this.fit();
    return true;
  }

  /** Makes the ends meet: the first row is at 0, and below the last there is nothing. */
  fit(): void {
    if (this.aim) this.align(this.aim);
    const end = this.span();
    const gap = this.scroll + this.view - end.bottom;
    if (end.to >= this.total && gap > 0) this.top += gap; // as far down as it goes
    const start = this.span();
    if (start.from === 0) this.shift(-start.top);
    else if (start.top < 0 || start.bottom > tallest * 2) this.shift(this.share(this.index) - this.top);
    this.scroll = Math.max(0, this.scroll); // all rows together are lower than the view
    this.walk();
    this.prune();
  }

  private align({ row, align, into }: Aim): void {
    const free = this.view - this.heightOf(row);
    this.index = row;
    this.top = this.scroll + (align === "start" ? -into : align === "end" ? free : Math.max(0, free / 3));
  }

  private heightOf(row: number): number {
    return this.heights.get(row) ?? this.estimate;
  }

  private get whole(): number {
    return Math.min(this.total * this.estimate, tallest);
  }

  // How many rows fit into the view, as estimated: never all of them.
  private get fitting(): number {
    return Math.min(this.view / this.estimate, this.total * 0.999);
  }

  // Where a row belongs. By its share of the range, but for the first ones, which need room to walk back to the start.
  private share(row: number): number {
    const part = Math.min(1, row / Math.max(1, this.total - this.fitting));
    const room = Math.min(row * this.estimate, hurry * this.view + this.over);
    return Math.max(part * Math.max(0, this.whole - this.view), room);
  }

  private jump(range: number): void {
    const part = Math.min(1, Math.max(0, this.scroll / range));
    if (range - this.scroll < 1) {
      this.aim = { row: Math.max(0, this.total - 1), align: "end", into: 0 };
      return;
    }
    const row = part * Math.max(0, this.total - this.fitting);
    this.index = Math.min(Math.floor(row), Math.max(0, this.total - 1));
    this.top = this.scroll - (row - this.index) * this.heightOf(this.index);
  }

  // Moves the anchor to the row at the top of the view.
  private walk(): void {
    while (this.index + 1 < this.total && this.top + this.heightOf(this.index) <= this.scroll) {
      this.top += this.heightOf(this.index++);
    }
    while (this.index > 0 && this.top > this.scroll) this.top -= this.heightOf(--this.index);
  }

  private shift(by: number): void {
    this.top += by;
    this.scroll += by;
  }

  private span(): Drawn & { bottom: number } {
    let [from, top] = [this.index, this.top];
    while (from > 0 && top > this.scroll - this.over) top -= this.heightOf(--from);
    let [to, bottom] = [this.index, this.top];
    while (to < this.total && bottom < this.scroll + this.view + this.over) bottom += this.heightOf(to++);
    return { from, to, top, bottom };
  }

  private prune(): void {
    if (this.heights.size < 4 * near) return;
    for (const row of this.heights.keys()) if (Math.abs(row - this.index) > near) this.heights.delete(row);
  }
}
