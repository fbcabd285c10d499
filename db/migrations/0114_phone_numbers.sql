-- A telephone number is one, however it is written: +33 (0)6 … was kept with the zero that is said within the country only,
-- and nobody found it under the number that SMS go to. Of two contacts of one account that are the same number now, the
-- one that had it keeps it.
update contacts c
   set sms = n.sms
  from (select account_id, id,
               regexp_replace(sms, '^(20|27|31|32|33|40|41|43|44|46|49|54|55|58|60|61|62|63|64|66|81|82|84|86|90|91|92|93'
                 || '|94|95|98|211|212|213|218|231|232|233|234|243|249|250|251|252|254|255|256|260|261|262|263|264|265'
                 || '|291|353|355|358|359|370|373|374|375|377|380|381|382|383|385|386|387|389|421|423|508|590|591|593'
                 || '|594|595|596|598|686|850|855|856|880|886|961|962|963|964|966|967|970|971|972|976|977|994|995|996'
                 || '|998)0([1-9])', '\1\2') as sms
          from contacts
         where sms is not null) n
 where c.account_id = n.account_id
   and c.id = n.id
   and c.sms <> n.sms
   and not exists (select 1 from contacts o where o.account_id = n.account_id and o.sms = n.sms);
