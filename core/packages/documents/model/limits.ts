/** The most characters of the subject of a mail, by a client or by a template. */
export const longestSubject = 500

/** Limits of one document: far above any real one, and far below what would harm the process. */
export const renderLimits = {
  /** The most levels of blocks inside blocks, in a template. */
  depth: 12,
  /** The most blocks of a template that stand in partials, each counted as often as it is included. */
  includedBlocks: 5_000,
  /** The most levels of lists and fields in template.yaml: each block adds at most five levels. */
  yamlDepth: 80,
  /** The most work of the expressions of one document, counted in steps of about 20 ns: two seconds. */
  steps: 100_000_000,
  /** The most blocks and table rows of one document, after its loops. */
  blocks: 100_000,
  /** The most characters of text in one document. */
  characters: 5_000_000,
  pages: 2_000,
  /** The most characters of an HTML or a plain text, with its layout. */
  output: 10_000_000,
  /** The most characters of the XML of a DOCX, or of a sheet of an XLSX. */
  markup: 50_000_000,
  /** The most bytes of one image. */
  imageBytes: 2 * 1024 * 1024,
  /** The most pixels (width times height) of one image. */
  imagePixels: 4_000_000,
  /** The most pixels of all images in the data of one document. */
  pixels: 40_000_000,
  /** The most characters of a watermark, which is on every page. */
  watermark: 100,
  /** The most characters of the subject of a mail. */
  subject: longestSubject,
  /** The most characters of a text of the template, after its words are inserted. */
  prose: 100_000
} as const
