import type { ResolvedBlock, ResolvedDocument } from '../model/document.ts'
import { renderError } from '../model/errors.ts'
import { points } from '../model/paper.ts'

/**
 * A document for these signers, in their order. A signature block without a label gets its signer's name. Signers without a block get
 * places on a page at the end. Throws a RenderError when a block names a signer who does not exist.
 */
export function withSigners (document: ResolvedDocument, names: readonly string[]): ResolvedDocument {
  const placed = new Set<number>()
  const body = labelled(document.body, names, placed)
  const left = names.flatMap((name, index) => placed.has(index + 1) ? [] : [signatureOf(index + 1, name)])
  return { ...document, body: left.length === 0 ? body : [...body, ...signaturePage(document, left)] }
}

/** The code of the problem that a document has places for more signers than the request names. */
export const tooFewSigners = 'too_few_signers'

/** The sentence of that problem: the number of the `last` signer with a place, and how many signers were `given`. */
export function needsSigners (last: number, given: number): string {
  return `With these data, the template has a place for signer ${last} to sign; the request has ${given} ` +
    `${given === 1 ? 'signer' : 'signers'}.`
}

/** The highest number of a signer with a place in a document; 0 without any. */
export function lastSigner (blocks: readonly ResolvedBlock[]): number {
  return blocks.reduce((last, block) => Math.max(last, block.kind === 'signature' ? block.signer : lastSigner(insideOf(block))), 0)
}

/** The blocks inside of a block. */
export function insideOf (block: ResolvedBlock): readonly ResolvedBlock[] {
  if (block.kind === 'columns') return block.columns.flatMap(({ blocks }) => blocks)
  if (block.kind === 'group') return block.blocks
  return block.kind === 'address' ? block.beside : []
}

/** The blocks with the names of signers in their places. The signers with a place are added to `placed`. */
function labelled (blocks: readonly ResolvedBlock[], names: readonly string[], placed: Set<number>): ResolvedBlock[] {
  return blocks.map((block) => {
    if (block.kind === 'columns') {
      return { ...block, columns: block.columns.map((column) => ({ ...column, blocks: labelled(column.blocks, names, placed) })) }
    }
    if (block.kind === 'group') return { ...block, blocks: labelled(block.blocks, names, placed) }
    if (block.kind === 'address') return { ...block, beside: labelled(block.beside, names, placed) }
    if (block.kind !== 'signature') return block
    const name = names[block.signer - 1]
    if (name === undefined) throw renderError('', tooFewSigners, needsSigners(block.signer, names.length))
    placed.add(block.signer)
    return block.label.length > 0 ? block : { ...block, label: [{ text: name }] }
  })
}

function signatureOf (signer: number, name: string): ResolvedBlock {
  return { kind: 'signature', signer, label: [{ text: name }], width: points(70), height: points(20) }
}

/** The page carries the title of the document, so that its content is clear in every language. */
function signaturePage ({ title, style }: ResolvedDocument, signatures: readonly ResolvedBlock[]): ResolvedBlock[] {
  return [
    { kind: 'pageBreak' },
    { kind: 'heading', level: 2, runs: [{ text: title }], align: 'left', color: style.text },
    ...signatures.flatMap((place): ResolvedBlock[] => [{ kind: 'spacer', height: points(8) }, place])
  ]
}
