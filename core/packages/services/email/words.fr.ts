export const fr = {
  service_email: 'E-mail',
  field_from: 'De',
  field_to: 'À',
  field_cc: 'Copie (Cc)',
  field_bcc: 'Copie cachée (Cci)',
  field_replyTo: 'Réponse à',
  field_subject: 'Objet',
  field_attachGenerated: 'Joindre le document',
  field_attachments: 'Pièces jointes',
  field_fileId: 'Fichier (identifiant)',
  field_documentId: 'Ou document (identifiant)',
  field_filename: 'Nom dans le message',
  field_body: 'Texte',
  delivery_bounced: 'rejeté'
}
