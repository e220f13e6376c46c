import type { ImageData } from '../model/document.ts'
import { type Relation, relationType } from '../office/package.ts'

/** The pictures of a document, each once. `next` numbers the places where they are used. */
export type Media = { path: (image: ImageData) => string, next: () => number, parts: () => Record<string, Uint8Array> }

/** The relations of a part of the document (its body, a header, a footer). Each function returns the id for the text. */
export type Relations = {
  id: (target: string) => string
  link: (url: string) => string
  picture: (image: ImageData) => string
  all: () => Relation[]
}

/** The pictures of a DOCX file, each once. */
export function createMedia (): Media {
  const paths = new Map<Uint8Array, string>()
  let shown = 0
  return {
    path ({ bytes, format }) {
      const path = paths.get(bytes) ?? `media/image${paths.size + 1}.${format}`
      paths.set(bytes, path)
      return path
    },
    next: () => ++shown,
    parts: () => Object.fromEntries([...paths].map(([bytes, path]) => [`word/${path}`, bytes]))
  }
}

/** Makes the relations of a part of a DOCX. `first`: those that the part has before those of its text. */
export function createRelations (media: Media, first: readonly Omit<Relation, 'id'>[] = []): Relations {
  const relations = new Map<string, Relation>()
  const refer = (target: string, relation: Omit<Relation, 'id' | 'target'>): string => {
    const { id } = relations.get(target) ?? { id: `rId${relations.size + 1}` }
    relations.set(target, { id, target, ...relation })
    return id
  }
  for (const { target, ...relation } of first) refer(target, relation)
  return {
    id: (target) => relations.get(target)?.id ?? '',
    link: (url) => refer(url, { type: relationType('hyperlink'), external: true }),
    picture: (image) => refer(media.path(image), { type: relationType('image') }),
    all: () => [...relations.values()]
  }
}
