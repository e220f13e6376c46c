import { didYouMean } from '@dispatch/common'
import { readImage } from '../image/read.ts'
import type { Image } from '../model/blocks.ts'
import type { ImageBlock, ImageData } from '../model/document.ts'
import { renderError } from '../model/errors.ts'
import { points } from '../model/paper.ts'
import { type CompileContext, contextBelow, reportFault } from './compile-context.ts'
import { compileExpression } from './expression.ts'
import { compileProse, plainText } from './prose.ts'
import { type Scope, spend } from './scope.ts'

/** The pictures of a template, each read once. */
export type Assets = Readonly<Record<string, ImageData>>

/** Reads the assets of a template, which are data URIs at this point. */
export function decodeAssets (source: Readonly<Record<string, string>>, site: CompileContext): Assets {
  return Object.fromEntries(Object.entries(source).flatMap(([name, uri]) => {
    const image = readImage(uri)
    if (typeof image !== 'string') return [[name, image]]
    reportFault(contextBelow(site, name), image)
    return []
  }))
}

/** Compiles a picture: an asset of the template, or a data URI of the data. A missing picture of the data is left out. */
export function compileImage (source: Image, site: CompileContext, assets: Assets): (scope: Scope) => ImageBlock | undefined {
  const { alt = '', align = 'start', width, height } = source
  const size = { ...(width === undefined ? {} : { width: points(width) }), ...(height === undefined ? {} : { height: points(height) }) }
  const picture = compilePicture(source, site, assets)
  const words = compileProse(alt, contextBelow(site, 'alt'))
  return (scope) => {
    const image = picture(scope)
    return image === undefined ? undefined : { kind: 'image', image, alt: plainText(words(scope)), align, ...size }
  }
}

function compilePicture ({ asset, value }: Image, site: CompileContext, assets: Assets): (scope: Scope) => ImageData | undefined {
  if ((asset === undefined) === (value === undefined)) {
    reportFault(site, 'Expected either "asset" (a name of "assets") or "value" (an expression that gives a data URI).')
  }
  if (value !== undefined) return compileValue(value, contextBelow(site, 'value'))
  return asset === undefined ? () => undefined : compileAsset(asset, contextBelow(site, 'asset'), assets)
}

function compileAsset (name: string, site: CompileContext, assets: Assets): (scope: Scope) => ImageData | undefined {
  const image = Object.hasOwn(assets, name) ? assets[name] : undefined
  if (image === undefined) reportFault(site, `The template has no asset "${name}"${didYouMean(name, Object.keys(assets))}.`)
  return () => image
}

function compileValue (value: string, site: CompileContext): (scope: Scope) => ImageData | undefined {
  const expression = compileExpression(value, site, 'whole')
  return (scope) => {
    const uri = expression.find(scope)
    if (uri === undefined || uri === null || uri === '') return undefined
    const image = typeof uri === 'string' ? readOnce(uri, scope) : 'Expected an image as a data URI (data:image/png;base64,…).'
    if (typeof image === 'string') throw renderError(expression.pointer(scope), 'bad_image', image)
    return image
  }
}

/** A picture that occurs several times in the data is read once, and is in the file once. */
function readOnce (uri: string, { pictures, ...scope }: Scope): ImageData | string {
  const image = pictures.get(uri) ?? readImage(uri)
  if (typeof image !== 'string' && !pictures.has(uri)) {
    spend(scope, 'pixels', image.width * image.height)
    pictures.set(uri, image)
  }
  return image
}
