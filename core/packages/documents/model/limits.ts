/** Bounds of one document: far above any real one, far below what would hurt the process. */
export const renderLimits = {
  /** Levels of blocks inside blocks, in a template. */
  depth: 12,
  /** Levels of lists and fields in template.yaml: blocks stand five below each other at most. */
  yamlDepth: 80,
  /** Blocks and table rows of one document, after loops. */
  blocks: 100_000,
  /** Characters of text of one document. */
  characters: 5_000_000,
  pages: 2_000,
  /** Characters of an HTML or a plain text, with its layout. */
  output: 10_000_000,
  /** Characters of the XML of a DOCX, or of a sheet of an XLSX. */
  markup: 50_000_000,
  /** Bytes of one image. */
  imageBytes: 2 * 1024 * 1024,
  /** Width times height of one image. */
  imagePixels: 4_000_000,
  /** Pixels of all images that the data of one document bring. */
  pixels: 40_000_000,
  /** Characters of a watermark: it stands on every page. */
  watermark: 100,
  /** Characters of a text of the template, once its words are put in. */
  prose: 100_000
} as const
