# expect: destructive@2 network@2 destructive@3 network@3 destructive@4 network@4
aws s3 rm s3://bucket/path --recursive
aws ec2 terminate-instances --instance-ids i-1
terraform destroy -auto-approve
