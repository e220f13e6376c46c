import fc from 'fast-check'
import { deflateSync, inflateSync } from 'node:zlib'
import t from 'tap'
import { growthOf, maxGrowth } from '../../../../test/support/growth.ts'
import { contains, has } from '../../../../test/support/matching.ts'
import { dataUriOf, flattenImage, readImage } from '../image/read.ts'
import { renderLimits } from '../model/limits.ts'
import { chunk, fileOf, pngFile, type PngKind } from './png-support.ts'
import { pdfOf } from './support.ts'

const rgb = { type: 2, depth: 8 } as const

/** A data URI of a PNG file. */
function png (file: Buffer): string {
  return `data:image/png;base64,${file.toString('base64')}`
}

/** A red PNG. */
function red (width: number, height: number): Buffer {
  return pngFile({ ...rgb, width, height, pixel: () => [255, 0, 0] })
}

/** A PNG of RGB pixels whose inflated content is this. */
function withData (width: number, height: number, data: Buffer): string {
  return png(fileOf({ ...rgb, width, height }, [chunk('IDAT', deflateSync(data))]))
}

// A baseline JPEG of 1 by 1 pixel.
const jpeg =
  'data:image/jpeg;base64,/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA='

void t.test('a PNG and a JPEG are read with their size', (t) => {
  has(t, readImage(png(red(3, 2))), { format: 'png', width: 3, height: 2 })
  has(t, readImage(jpeg), { format: 'jpeg', width: 1, height: 1 })
  t.end()
})

void t.test('a flat PNG stays what it is', (t) => {
  for (const kind of [{ type: 2, depth: 8 }, { type: 0, depth: 1 }, { type: 3, depth: 4, palette: [1, 2, 3, 4, 5, 6] }] as const) {
    const file = pngFile({ ...kind, width: 5, height: 5, pixel: (x) => kind.type === 2 ? [x, x, x] : [x % 2] })
    t.same(flattenImage(file), { format: 'png', bytes: file, width: 5, height: 5 })
  }
  t.end()
})

void t.test('nothing of a PNG stays but its pixels: a profile of 100 MB fits into 97 kB', (t) => {
  const header = { ...rgb, width: 1, height: 1 }
  const pixels = chunk('IDAT', deflateSync(Buffer.from([0, 255, 0, 0])))
  const bomb = Buffer.concat([Buffer.from('sRGB\0\0'), deflateSync(Buffer.alloc(100_000_000))])
  for (const type of ['iCCP', 'zTXt', 'iTXt', 'tEXt', 'eXIf', 'prVt']) {
    has(t, flattenImage(fileOf(header, [chunk(type, bomb), pixels, chunk(type, bomb)])), { bytes: fileOf(header, [pixels]) }, type)
  }
  t.end()
})

void t.test('a JPEG may announce as much as it will: each of its bytes is looked at once', async (t) => {
  const [, base64 = ''] = jpeg.split(',')
  const file = Buffer.from(base64, 'base64')
  const announcing = (entries: number): Buffer => {
    const segment = Buffer.from('ffe1001245786966000049492a00080000000000', 'hex')
    segment.writeUInt16LE(entries, 18)
    return Buffer.concat([file.subarray(0, 2), ...Array.from({ length: 1000 }, () => segment), file.subarray(2)])
  }
  t.ok(await growthOf(1, (size) => {
    has(t, flattenImage(announcing(size ** 5)), { width: 1 })
  }) < maxGrowth)
})

/** The pixels of a picture that was made flat: rows of RGB without filters. */
function pixelsOf (file: Buffer): number[][] {
  const image = flattenImage(file)
  if (typeof image === 'string') throw new Error(image)
  const bytes = Buffer.from(image.bytes)
  const at = bytes.indexOf('IDAT')
  const data = inflateSync(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4)))
  const stride = image.width * 3 + 1
  return Array.from({ length: image.width * image.height }, (_, index) => {
    const start = Math.floor(index / image.width) * stride + 1 + index % image.width * 3
    return [...data.subarray(start, start + 3)]
  })
}

const depths = { 0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16] } as const

/** A PNG that is not flat, with the colours (0 to 1, and alpha) that it stands for. */
const unflat = fc.record({
  type: fc.constantFrom(0, 2, 3, 4, 6),
  depth: fc.nat(4),
  width: fc.integer({ min: 1, max: 19 }),
  height: fc.integer({ min: 1, max: 19 }),
  filters: fc.array(fc.nat(4), { minLength: 1, maxLength: 5 }),
  seed: fc.nat(1000)
}).map(({ type, depth: index, seed, ...rest }) => {
  const known = depths[type]
  const depth = known[index % known.length] ?? 8
  const samples = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[type]
  const palette = Array.from({ length: 3 * 2 ** depth }, (_, index) => index * 37 % 256)
  const pixel = (x: number, y: number): number[] =>
    Array.from({ length: samples }, (_, channel) => (x * 7919 + y * 104729 + channel * 31 + seed) % 2 ** depth)
  return { ...rest, type, depth, samples, isInterlaced: true, pixel, ...(type === 3 ? { palette } : {}) }
})

/** What a pixel looks like on white. */
function expected ({ type, depth, palette = [], pixel }: PngKind, x: number, y: number): number[] {
  const samples = pixel(x, y)
  const max = 2 ** depth - 1
  if (type === 3) return palette.slice((samples[0] ?? 0) * 3, (samples[0] ?? 0) * 3 + 3)
  const alpha = type === 4 ? (samples[1] ?? 0) / max : type === 6 ? (samples[3] ?? 0) / max : 1
  const colors = type === 2 || type === 6 ? samples.slice(0, 3) : Array.from({ length: 3 }, () => samples[0] ?? 0)
  return colors.map((value) => Math.round(255 - (255 - value / max * 255) * alpha))
}

void t.test('any kind of PNG becomes the picture that it is, on white', (t) => {
  fc.assert(fc.property(unflat, (kind) => {
    const found = pixelsOf(pngFile(kind))
    return found.every((color, index) => {
      const desired = expected(kind, index % kind.width, Math.floor(index / kind.width))
      return color.every((value, channel) => Math.abs(value - (desired[channel] ?? -9)) <= 1)
    })
  }), { numRuns: 300 })
  t.end()
})

void t.test('a flat picture as a data URI is read as it is', (t) => {
  const image = flattenImage(pngFile({ type: 6, depth: 8, width: 2, height: 2, pixel: () => [0, 0, 0, 9] }))
  if (typeof image === 'string') throw new Error(image)
  t.same(readImage(dataUriOf(image)), image)
  t.end()
})

void t.test('what is transparent is white', (t) => {
  const key = Buffer.from([0, 9, 0, 8, 0, 7])
  t.same(pixelsOf(pngFile({ ...rgb, width: 2, height: 1, transparency: key, pixel: (x) => x === 0 ? [9, 8, 7] : [9, 8, 6] })), [
    [
      255,
      255,
      255
    ],
    [9, 8, 6]
  ], 'a colour that stands for it')
  t.same(
    pixelsOf(
      pngFile({
        type: 3,
        depth: 8,
        width: 2,
        height: 1,
        palette: [10, 20, 30, 40, 50, 60],
        transparency: Buffer.from([0]),
        pixel: (x) => [x]
      })
    ),
    [[255, 255, 255], [40, 50, 60]],
    'an entry of a palette'
  )
  t.same(pixelsOf(pngFile({ type: 6, depth: 8, width: 1, height: 1, pixel: () => [0, 100, 255, 51] })), [[204, 224, 255]],
    'a fifth of a colour')
  t.end()
})

void t.test('a picture that a camera took on its side has the size of what is seen', (t) => {
  const [, base64 = ''] = jpeg.split(',')
  const file = Buffer.from(base64, 'base64')
  const wide = Buffer.from(file)
  wide.writeUInt16BE(3, file.indexOf(Buffer.from('ffc2', 'hex')) + 7)
  const exif = (orientation: number, order: 'II' | 'MM'): Buffer => {
    const big = Buffer.from(`4d4d002a0000000800010112000300000001000${String(orientation)}0000`, 'hex')
    const little = Buffer.from(`49492a0008000000010012010300010000000${String(orientation)}000000`, 'hex')
    const segment = Buffer.concat([Buffer.from('Exif\0\0'), order === 'MM' ? big : little])
    return Buffer.concat([wide.subarray(0, 2), Buffer.from([0xff, 0xe1, 0, segment.length + 2]), segment, wide.subarray(2)])
  }
  has(t, flattenImage(wide), { width: 3, height: 1 })
  for (const order of ['II', 'MM'] as const) {
    for (const orientation of [1, 4]) {
      has(t, flattenImage(exif(orientation, order)), { width: 3, height: 1 }, `${order} ${String(orientation)}`)
    }
    for (const orientation of [5, 6, 8]) {
      has(t, flattenImage(exif(orientation, order)), { width: 1, height: 3 }, `${order} ${String(orientation)}`)
    }
  }
  t.end()
})

const refused: [rule: string, uri: string, message: RegExp][] = [
  ['what is no data URI', 'https://example.com/logo.png', /data URI/],
  ['another kind of picture', 'data:image/svg+xml;base64,AAAA', /PNG or JPEG/],
  ['a PNG that says JPEG', png(red(1, 1)).replace('png', 'jpeg'), /not a readable JPEG/],
  ['garbage', 'data:image/png;base64,AAAA', /not a readable PNG/],
  ['a PNG without its data', withData(5, 5, Buffer.alloc(3)), /not a readable PNG/],
  ['a PNG that inflates to more than it announces', withData(1, 1, Buffer.alloc(50_000_000)), /not a readable PNG/],
  ['a PNG of no pixels', withData(0, 5, Buffer.alloc(0)), /not a readable PNG/],
  ['a PNG of 50,000 by 50,000 pixels', withData(50_000, 50_000, Buffer.alloc(10)), /at most 4000000 pixels/],
  [
    'an interlaced bomb',
    png(fileOf({ type: 6, depth: 16, width: 40_000, height: 40_000, isInterlaced: true }, [chunk('IDAT', deflateSync(Buffer.alloc(100)))])),
    /at most 4000000 pixels/
  ],
  ['a colour type that there is not', png(fileOf({ type: 5 as 6, depth: 8, width: 1, height: 1 }, [])), /not a readable PNG/],
  [
    'a depth that its colours cannot have',
    png(fileOf({ type: 6, depth: 4, width: 1, height: 1 }, [chunk('IDAT', deflateSync(Buffer.alloc(3)))])),
    /not a readable PNG/
  ],
  [
    'a palette that is not there',
    png(fileOf({ type: 3, depth: 8, width: 1, height: 1 }, [chunk('IDAT', deflateSync(Buffer.alloc(2)))])),
    /not a readable PNG/
  ],
  [
    'a filter that there is not',
    png(fileOf({ type: 6, depth: 8, width: 1, height: 1 }, [chunk('IDAT', deflateSync(Buffer.from([9, 0, 0, 0, 0])))])),
    /not a readable PNG/
  ],
  ['too many bytes', `data:image/png;base64,${'A'.repeat(renderLimits.imageBytes * 2)}`, /at most 2097152 bytes/]
]

for (const [rule, uri, message] of refused) {
  void t.test(`${rule} is refused`, (t) => {
    contains(t, readImage(uri), message)
    t.end()
  })
}

void t.test('a file is bounded like a data URI', (t) => {
  contains(t, flattenImage(Buffer.alloc(renderLimits.imageBytes + 1)), /at most 2097152 bytes/)
  contains(t, flattenImage(Buffer.alloc(0)), /not a readable PNG/)
  t.end()
})

void t.test('any bytes are a picture or refused', (t) => {
  const start = fc.constantFrom(red(2, 2), Buffer.from(jpeg.split(',')[1] ?? '', 'base64'))
  fc.assert(fc.property(start, fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 6 }), fc.nat(200), (file, changes, length) => {
    const bytes = Buffer.from(file)
    for (const [at, value] of changes) bytes[at % bytes.length] = value
    const image = flattenImage(bytes.subarray(0, Math.max(bytes.length - length, 0)))
    return typeof image === 'string' || image.width * image.height > 0
  }), { numRuns: 2000 })
  t.end()
})

void t.test('pictures are put into the document, from the template and from the data', async (t) => {
  const { bytes } = await pdfOf([
    { image: { asset: 'logo', width: 40, align: 'right' } },
    { image: { value: 'logo', height: 10 } },
    { image: { value: 'missing' } }
  ], { logo: jpeg }, { assets: { logo: png(red(20, 10)) } })
  const text = Buffer.from(bytes).toString('latin1')
  contains(t, text, /\/Filter \/DCTDecode/)
  contains(t, text, /\/Subtype \/Image/)
  t.equal(text.match(/\/Width (20|1)\n/g)?.length, 2)
})

void t.test('a picture of the header is in the file once, however many pages show it', async (t) => {
  const pages = { each: 'pages', as: 'page1', pageBreak: true, do: [{ paragraph: 'x' }] }
  const { bytes, pages: count } = await pdfOf([pages], { pages: [1, 2, 3, 4] }, {
    header: [{ image: { asset: 'logo' } }],
    assets: { logo: png(red(20, 10)) }
  })
  t.equal(count, 4)
  t.equal(Buffer.from(bytes).toString('latin1').match(/\/Subtype \/Image/g)?.length, 1)
})
