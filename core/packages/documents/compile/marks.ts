import type { Button, Signature } from '../model/blocks.ts'
import type { ButtonBlock, SignatureBlock } from '../model/document.ts'
import { renderError } from '../model/errors.ts'
import { points } from '../model/paper.ts'
import { type CompileContext, contextBelow, reportFault } from './compile-context.ts'
import { compileExpression } from './expression.ts'
import { safeLinkOf } from './links.ts'
import { compileProse, plainText } from './prose.ts'
import type { Scope } from './scope.ts'

/** Compiles a button. Without a URL it is left out. A URL that is not a safe link is a RenderError. */
export function compileButton (source: Button, site: CompileContext): (scope: Scope) => ButtonBlock | undefined {
  const text = compileProse(source.text, { ...contextBelow(site, 'text'), pageFields: false })
  const address = compileExpression(source.url, contextBelow(site, 'url'), 'whole')
  return (scope) => {
    const found = address.find(scope)
    if (found === undefined || found === null || found === '') return undefined
    const url = typeof found === 'string' ? safeLinkOf(found) : undefined
    if (url === undefined) {
      throw renderError(address.pointer(scope), 'bad_link', 'Expected an address that begins with https://, http://, mailto: or tel:.')
    }
    return { kind: 'button', text: plainText(text(scope)), url }
  }
}

/** Compiles the space for a signature: 70 by 20 millimetres by default. */
export function compileSignature (source: Signature, site: CompileContext): (scope: Scope) => SignatureBlock {
  if (site.pageFields) reportFault(site, 'A signature is allowed in the body only: in a header or footer it would be on every page.')
  const { signer, label = '', width = 70, height = 20 } = source
  site.signers.add(signer)
  const prose = compileProse(label, contextBelow(site, 'label'))
  const size = { width: points(width), height: points(height) }
  return (scope) => ({ kind: 'signature', signer, label: prose(scope), ...size })
}
