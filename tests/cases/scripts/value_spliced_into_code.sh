# expect: network@2 spliced_value@2 side_effect=unknown
ssh web1 "df -h $FOLDER"
