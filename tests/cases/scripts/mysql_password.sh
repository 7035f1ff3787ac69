# expect: secrets@2 destructive@2
mysql -uroot -phunter22 -e 'DELETE FROM t WHERE id = 3'
