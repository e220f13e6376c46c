import type { ResolvedDocument } from '../model/document.ts'
import { xmlText } from '../office/xml.ts'

/** The title and the author in the XMP packet of a PDF/A (ISO 19005-3, 6.6.2). */
export function archiveMetadata ({ title, author, locale }: Pick<ResolvedDocument, 'title' | 'author' | 'locale'>): string {
  const creator = author === '' ? '' : `<dc:creator><rdf:Seq><rdf:li>${xmlText(author)}</rdf:li></rdf:Seq></dc:creator>`
  return `<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">
  <dc:format>application/pdf</dc:format>
  <dc:title><rdf:Alt><rdf:li xml:lang="x-default">${xmlText(title)}</rdf:li></rdf:Alt></dc:title>
  <dc:language><rdf:Bag><rdf:li>${xmlText(locale)}</rdf:li></rdf:Bag></dc:language>
  ${creator}
</rdf:Description>`
}

const namespace = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#'

/** The properties of Factur-X 1.0 for a level of conformance, with the schema that PDF/A requires for them (Factur-X 1.08, 6.2). */
export function invoiceMetadata (conformance: string): string {
  return `<rdf:Description rdf:about="" xmlns:fx="${namespace}">
  <fx:DocumentType>INVOICE</fx:DocumentType>
  <fx:DocumentFileName>factur-x.xml</fx:DocumentFileName>
  <fx:Version>1.0</fx:Version>
  <fx:ConformanceLevel>${conformance}</fx:ConformanceLevel>
</rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
  <pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
    <pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
    <pdfaSchema:namespaceURI>${namespace}</pdfaSchema:namespaceURI>
    <pdfaSchema:prefix>fx</pdfaSchema:prefix>
    <pdfaSchema:property><rdf:Seq>
      ${property('DocumentFileName', 'The name of the embedded XML document')}
      ${property('DocumentType', 'The type of the hybrid document in capital letters, e.g. INVOICE or ORDER')}
      ${property('Version', 'The actual version of the standard applying to the embedded XML document')}
      ${property('ConformanceLevel', 'The conformance level of the embedded XML document')}
    </rdf:Seq></pdfaSchema:property>
  </rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>`
}

function property (name: string, description: string): string {
  return '<rdf:li ' +
    `rdf:parseType="Resource"><pdfaProperty:name>${name}</pdfaProperty:name><pdfaProperty:valueType>Text</pdfaProperty:valueType><pdfaProperty:category>external</pdfaProperty:category><pdfaProperty:description>${description}</pdfaProperty:description></rdf:li>`
}
