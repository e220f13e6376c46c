import { deflateSync } from 'node:zlib'
import t from 'tap'
import { readImage } from '../../../core/documents/image/read.ts'
import { limits } from '../../../core/documents/limits.ts'
import { pdfOf } from './support.ts'

/** A PNG of RGBA pixels; `data` replaces its inflated content. */
function png (width: number, height: number, data = Buffer.alloc((width * 4 + 1) * height)): string {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 6, 0, 0, 0], 8)
  const bytes = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', header), chunk('IDAT', deflateSync(data)), chunk('IEND', Buffer.alloc(0))])
  return `data:image/png;base64,${bytes.toString('base64')}`
}

function chunk (type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)])
}

// A baseline JPEG of 1 by 1 pixel.
const jpeg = 'data:image/jpeg;base64,/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA='

void t.test('a PNG and a JPEG are read with their size', (t) => {
  t.match(readImage(png(3, 2)), { format: 'png', width: 3, height: 2 })
  t.match(readImage(jpeg), { format: 'jpeg', width: 1, height: 1 })
  t.end()
})

const refused: [rule: string, uri: string, message: RegExp][] = [
  ['what is no data URI', 'https://example.com/logo.png', /data URI/],
  ['another kind of picture', 'data:image/svg+xml;base64,AAAA', /PNG or JPEG/],
  ['a PNG that says JPEG', png(1, 1).replace('png', 'jpeg'), /not a readable JPEG/],
  ['garbage', 'data:image/png;base64,AAAA', /not a readable PNG/],
  ['a PNG without its data', png(5, 5, Buffer.alloc(3)), /not a readable PNG/],
  ['a PNG that inflates to more than it announces', png(1, 1, Buffer.alloc(50_000_000)), /not a readable PNG/],
  ['a PNG of no pixels', png(0, 5, Buffer.alloc(0)), /not a readable PNG/],
  ['too many pixels', png(3000, 3000, Buffer.alloc(1)), /at most 4000000 pixels/],
  ['too many bytes', `data:image/png;base64,${'A'.repeat(limits.imageBytes * 2)}`, /at most 2097152 bytes/]
]

for (const [rule, uri, message] of refused) {
  void t.test(`${rule} is refused`, (t) => {
    t.match(readImage(uri), message)
    t.end()
  })
}

void t.test('pictures are put into the document, from the template and from the data', async (t) => {
  const { bytes } = await pdfOf([{ image: { asset: 'logo', width: 40, align: 'right' } }, { image: { value: 'logo', height: 10 } }, { image: { value: 'missing' } }], { logo: jpeg }, { assets: { logo: png(20, 10) } })
  const text = Buffer.from(bytes).toString('latin1')
  t.match(text, /\/Filter \/DCTDecode/)
  t.match(text, /\/Subtype \/Image/)
  t.equal(text.match(/\/Width (20|1)\n/g)?.length, 3, 'the picture, its transparency and the other picture')
})
