import { openPdf, type PdfFile } from './pdf-file.ts'
import { type Dictionary, isDictionary, isList, isReference, type PdfValue, textIn } from './pdf-syntax.ts'
import { UnreadableInvoice } from './unreadable.ts'

/** The names that Factur-X, ZUGFeRD, XRechnung and Order-X give the XML in a PDF. */
const names = ['factur-x.xml', 'zugferd-invoice.xml', 'xrechnung.xml', 'order-x.xml']

/** More nodes of a tree, and files, than any invoice has. */
const maxNodes = 1000

/** The XML of an invoice in a PDF, with its name. `max`: how many bytes may be unpacked. */
export function embeddedInvoice (bytes: Uint8Array, max: number): { name: string, bytes: Uint8Array } {
  const pdf = openPdf(bytes, max)
  const { trailer, resolve } = pdf
  if (trailer.has('/Encrypt')) throw new UnreadableInvoice('encrypted', 'The PDF is encrypted: an invoice in a PDF is not.')
  const root = resolve(trailer.get('/Root'))
  const files = isDictionary(root) ? filesIn(root, pdf) : []
  const known = names.flatMap((name) => files.find((file) => file.name.toLowerCase() === name) ?? [])
  const [found] = known
  if (found === undefined) {
    const others = files.length === 0 ? 'no file' : files.slice(0, 10).map(({ name }) => `"${name.slice(0, 60)}"`).join(', ')
    throw new UnreadableInvoice('no_invoice', `The PDF contains no invoice (${names.slice(0, 3).join(', ')}) but ${others}.`)
  }
  const content = pdf.content(found.stream)
  if (content === undefined) throw new UnreadableInvoice('no_invoice', `The PDF names ${found.name}, and does not contain it.`)
  return { name: found.name, bytes: content }
}

type EmbeddedFile = { name: string, stream: PdfValue | undefined }

/** The files that the catalog names: in its tree of names, and those that are associated with the document. */
function filesIn (root: Dictionary, { resolve }: PdfFile): EmbeddedFile[] {
  const specifications: PdfValue[] = []
  const associated = resolve(root.get('/AF'))
  if (isList(associated)) specifications.push(...associated.slice(0, maxNodes))
  const tree = resolve(root.get('/Names'))
  const open: (PdfValue | undefined)[] = isDictionary(tree) ? [tree.get('/EmbeddedFiles')] : []
  const seen = new Set<number>()
  for (let node = open.pop(), count = 0; node !== undefined && count < maxNodes; node = open.pop(), count++) {
    if (isReference(node)) {
      if (seen.has(node.reference)) continue
      seen.add(node.reference)
    }
    const inside = resolve(node)
    if (!isDictionary(inside)) continue
    const [kids, pairs] = [resolve(inside.get('/Kids')), resolve(inside.get('/Names'))]
    if (isList(kids)) open.push(...kids.slice(0, maxNodes))
    if (isList(pairs)) specifications.push(...pairs.slice(0, 2 * maxNodes).filter((_, index) => index % 2 === 1))
  }
  return specifications.flatMap((one) => {
    const specification = resolve(one)
    if (!isDictionary(specification)) return []
    const name = textIn(resolve(specification.get('/UF'))) ?? textIn(resolve(specification.get('/F')))
    const embedded = resolve(specification.get('/EF'))
    return name === undefined || !isDictionary(embedded) ? [] : [{ name, stream: embedded.get('/F') ?? embedded.get('/UF') }]
  })
}
