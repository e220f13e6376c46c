export const en = {
  service_email: 'E-mail',
  field_from: 'From',
  field_to: 'To',
  field_cc: 'Copy (Cc)',
  field_bcc: 'Blind copy (Bcc)',
  field_replyTo: 'Reply to',
  field_subject: 'Subject',
  field_attachGenerated: 'Attach the document',
  field_body: 'Text',
  delivery_bounced: 'bounced',
  delivery_opened: 'opened',
  delivery_clicked: 'link clicked',
  delivery_complained: 'marked as spam'
}
